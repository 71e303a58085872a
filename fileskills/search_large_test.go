//go:build !race

// What is counted here are allocations, and under the race detector sync.Pool
// throws away what it is given.

package fileskills

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allocated is how much a function allocates, in bytes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// largeFiles makes the files that a call must not take into memory.
func largeFiles(t testing.TB, root string) {
	t.Helper()
	for name, text := range map[string]string{
		"sparse": strings.Repeat("text at the front\n", 1000),
		"lines":  strings.Repeat("one of a million lines, more or less\n", 1e6),
		"line":   strings.Repeat("0123456789abcdef", 10<<16) + "needle" + strings.Repeat(" ", 100),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	require.NoError(t, os.Truncate(filepath.Join(root, "sparse"), 10<<30))
}

// What a call holds does not grow with the file.
func TestLargeFilesTakeLittleMemory(t *testing.T) {
	w := newWorld(t)
	largeFiles(t, w.root)
	for _, c := range []struct {
		skill string
		in    args
		want  string // in the result, or the code of the refusal
		most  uint64 // bytes
	}{
		{"read_file", args{"path": "sparse", "limit": 10}, "[lines 1-10 of a file of 10.0 GiB; continue with offset=11]", 1 << 20},
		{"read_file", args{"path": "sparse", "offset": 990}, "[this line goes on for more than 16 MiB, and was not read to its end]\n[lines 990-1001 of a file of 10.0 GiB", 1 << 20},
		{"read_file", args{"path": "lines", "limit": 10}, "[lines 1-10 of 1000000; continue with offset=11]", 1 << 20},
		{"read_file", args{"path": "lines", "offset": 999_999}, "[lines 999999-1000000 of 1000000; end of file]", 1 << 20},
		{"read_file", args{"path": "line"}, "more bytes of this line]", 1 << 20},
		{"grep", args{"path": "sparse", "pattern": "front", "max_matches": 5}, "[matches 1-5; more follow", 2 << 20},
		{"grep", args{"path": "sparse", "pattern": "nowhere"}, "0 matches (1 binary file not searched)", 2 << 20},
		{"grep", args{"path": "lines", "pattern": "million$"}, "0 matches", 2 << 20},
		{"grep", args{"path": "lines", "pattern": "million", "offset": 999_990}, "[1000000 matches in 1 file]", 2 << 20},
		{"grep", args{"path": "line", "pattern": "need[l]e"}, "needle", 64 << 20},
		{"grep", args{"path": "line", "pattern": "needle"}, "needle", 64 << 20},
		{"grep", args{"pattern": "nowhere"}, "1 file that is too large", 64 << 20},
		{"file_info", args{"path": "sparse"}, "size: 10737418240 bytes", 1 << 20},
	} {
		var res *Result
		used := allocated(func() { res = w.ok(c.skill, c.in) })
		require.Contains(t, res.Text, c.want, "%s %v", c.skill, c.in)
		require.Less(t, used, c.most, "%s %v", c.skill, c.in)
		require.Less(t, len(res.Text), 2*maxText)
	}
	plain := allocated(func() { _, _ = os.ReadFile(w.path("lines")) })
	require.Greater(t, plain, uint64(32<<20), "read whole, it takes what it has")
}

func BenchmarkLarge(b *testing.B) {
	root, set := benchSet(b)
	largeFiles(b, root)
	for name, c := range map[string]struct {
		skill string
		in    args
	}{
		"read-sparse-10GiB":      {"read_file", args{"path": "sparse"}},
		"read-10MiB-line":        {"read_file", args{"path": "line"}},
		"read-million-lines-end": {"read_file", args{"path": "lines", "offset": 999_000}},
		"grep-sparse-10GiB":      {"grep", args{"path": "sparse", "pattern": "nowhere"}},
		"grep-million-lines":     {"grep", args{"path": "lines", "pattern": "nowhere"}},
		"grep-10MiB-line":        {"grep", args{"path": "line", "pattern": "needle"}},
	} {
		b.Run(name, func(b *testing.B) { benchCall(b, set, c.skill, c.in) })
	}
}

func BenchmarkRead10MiB(b *testing.B) {
	root, set := benchSet(b)
	file := filepath.Join(root, "f")
	require.NoError(b, os.WriteFile(file, bytes.Repeat(append(bytes.Repeat([]byte("x"), 63), '\n'), 10<<14), 0o644))
	b.Run("skill", func(b *testing.B) { benchCall(b, set, "read_file", args{"path": "f"}) })
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			data, err := os.ReadFile(file)
			require.NoError(b, err)
			_ = strings.SplitAfterN(string(data), "\n", 2001)
		}
	})
}

func BenchmarkDirectoryOf200000(b *testing.B) {
	root, set := benchSet(b)
	dir := filepath.Join(root, "d")
	require.NoError(b, os.Mkdir(dir, 0o755))
	for i := range 200_000 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("file-%06d.txt", i*7919%200_000)))
		require.NoError(b, err)
		require.NoError(b, f.Close())
	}
	b.Run("list", func(b *testing.B) { benchCall(b, set, "list_directory", args{"path": "d"}) })
	b.Run("glob", func(b *testing.B) { benchCall(b, set, "glob", args{"pattern": "**/*99.txt"}) })
	b.Run("glob-all", func(b *testing.B) { benchCall(b, set, "glob", args{"pattern": "**"}) })
	b.Run("os.ReadDir", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			list, err := os.ReadDir(dir)
			require.NoError(b, err)
			require.Len(b, list, 200_000)
		}
	})
}
