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

// BenchmarkEdit1K compares edit_file of 1 KiB with the raw calls.
func BenchmarkEdit1K(b *testing.B) {
	dir := b.TempDir()
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"."}})
	require.NoError(b, err)
	defer r.Close()
	name := filepath.Join(dir, "f.txt")
	require.NoError(b, os.WriteFile(name, []byte(strings.Repeat("0123456789abcde\n", 63)+"value: 0\n"), 0o644))
	for _, sync := range []bool{true, false} {
		set, err := New(Config{Resolver: r, NoSync: !sync})
		require.NoError(b, err)
		b.Run(map[bool]string{true: "skill-synced", false: "skill"}[sync], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, step := range []string{"01", "10"} {
					input := `{"path":"f.txt","old_string":"value: ` + step[:1] + `","new_string":"value: ` + step[1:] + `"}`
					if _, err := set.Call(context.Background(), "edit_file", []byte(input)); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, step := range []string{"01", "10"} {
				raw, _ := os.ReadFile(name)
				_ = os.WriteFile(name, []byte(strings.Replace(string(raw), "value: "+step[:1], "value: "+step[1:], 1)), 0o644)
			}
		}
	})
}

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
