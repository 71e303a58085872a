package fileskills

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// BenchmarkWrite1K compares write_file of 1 KiB with the raw calls: the same
// bytes by os.WriteFile, and by a synced file that is renamed.
func BenchmarkWrite1K(b *testing.B) {
	dir := b.TempDir()
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"."}})
	require.NoError(b, err)
	defer r.Close()
	set, err := New(Config{Resolver: r})
	require.NoError(b, err)
	content := strings.Repeat("0123456789abcde\n", 64)
	b.Run("skill", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			c := content[:len(content)-2] + string(rune('a'+i%26)) + "\\n"
			input := []byte(`{"path":"f.txt","content":"` + strings.ReplaceAll(c, "\n", `\n`) + `"}`)
			if _, err := set.Call(context.Background(), "write_file", input); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("resolver", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, r.WriteFile("g.txt", []byte(content), 0o644))
		}
	})
	b.Run("bare", func(b *testing.B) {
		name := filepath.Join(dir, "h.txt")
		for b.Loop() {
			_ = os.WriteFile(name, []byte(content), 0o644)
		}
	})
	b.Run("bare-renamed", func(b *testing.B) {
		name := filepath.Join(dir, "h.txt")
		for b.Loop() {
			_ = os.WriteFile(name+".tmp", []byte(content), 0o644)
			_ = os.Rename(name+".tmp", name)
		}
	})
	b.Run("bare-synced", func(b *testing.B) {
		name := filepath.Join(dir, "h.txt")
		for b.Loop() {
			f, _ := os.Create(name + ".tmp")
			_, _ = f.WriteString(content)
			_ = f.Sync()
			_ = f.Close()
			_ = os.Rename(name+".tmp", name)
		}
	})
}
