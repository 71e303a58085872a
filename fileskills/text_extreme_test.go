package fileskills

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files at the edge of what is edited: all of it works, and no diff or error
// is as large as they are.
func TestExtremeFiles(t *testing.T) {
	for name, file := range map[string]string{
		"a million lines":      strings.Repeat("0123456789\r\n", 1_000_000) + "the end\r\n",
		"a line of 10 MiB":     strings.Repeat("0123456789", 1<<20) + "the end",
		"nothing but endings":  strings.Repeat("\r\n", 4<<20) + "the end",
		"mixed to the last":    strings.Repeat("a\r\nb\n", 1<<20) + "the end",
		"nothing but one byte": strings.Repeat("e", 8<<20) + "\nthe end",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withPatch(t))
			reset := func() { w.write("out/f", file) }
			want := strings.TrimSuffix(strings.TrimSuffix(file, "\r\n"), "the end")
			for skill, in := range map[string]args{
				"edit_file":       {"path": "out/f", "old_string": "the end", "new_string": "an end"},
				"edit_file_batch": {"path": "out/f", "edits": []args{{"old_string": "the end", "new_string": "an end"}}},
				"regex_replace":   {"path": "out/f", "pattern": `the (\w+)\s*\z`, "replacement": `an \1`},
			} {
				reset()
				res := w.ok(skill, in)
				require.True(t, strings.HasPrefix(w.read("out/f"), want+"an end"), skill)
				require.Less(t, len(res.Meta.Diff), 2*maxDiffBytes)
			}
			reset()
			e := w.refused(CodeNoMatch, "edit_file", args{"path": "out/f", "old_string": "the ned", "new_string": "x"})
			require.Less(t, len(e.Error()), 4<<10)
			for _, old := range []string{"e", "\n", "0123456789", "ee"} {
				if n := strings.Count(lineFeeds(file), old); n > 1 {
					e = w.refused(CodeMultipleMatches, "edit_file", args{"path": "out/f", "old_string": old, "new_string": "x"})
					require.Less(t, len(e.Error()), 1<<10)
				}
			}
		})
	}
}

// An edit of a large file holds a small multiple of it.
func TestEditMemory(t *testing.T) {
	const size = 32 << 20
	w := newWorld(t)
	w.write("out/f", strings.Repeat("some line\r\n", size/11)+"the end\r\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.ok("edit_file", args{"path": "out/f", "old_string": "the end", "new_string": "an end"})
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	t.Logf("%.1f times the file", float64(allocated)/size)
	require.Less(t, allocated, uint64(5*size))
}

func BenchmarkEditFile(b *testing.B) {
	for name, n := range map[string]int{"1KiB": 1 << 10, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			raw := []byte(strings.Repeat("some line\n", n/10) + "the end\n")
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				t, err := readText(background, "f", raw)
				require.NoError(b, err)
				edits, err := t.swaps(background, []swap{{old: "the end", new: "an end"}}, func(int) string { return "" })
				require.NoError(b, err)
				_, err = t.apply(background, edits)
				require.NoError(b, err)
				diffEdits("f", t.lf, edits)
			}
		})
	}
}
