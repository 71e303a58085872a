package sandboxfs

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// What is noted of an owner's locks is what was set last of each byte, in as few
// parts as can be.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 12
		var held spans
		var model [size]span
		for i := range model {
			model[i].typ = unix.F_UNLCK
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			n := span{
				start:  int64(rapid.IntRange(0, size-1).Draw(t, "start")),
				typ:    rapid.SampledFrom([]int16{unix.F_RDLCK, unix.F_WRLCK, unix.F_UNLCK}).Draw(t, "typ"),
				thread: uint32(rapid.IntRange(1, 2).Draw(t, "thread")),
			}
			n.end = int64(rapid.IntRange(int(n.start), size-1).Draw(t, "end"))
			lowered := false
			for i := n.start; i <= n.end; i++ {
				was := model[i].typ
				lowered = lowered || was == unix.F_WRLCK && n.typ != was || was == unix.F_RDLCK && n.typ == unix.F_UNLCK
				model[i] = span{typ: n.typ, thread: n.thread}
			}
			require.Equal(t, lowered, held.put(n))
		}
		var want spans
		for i, m := range model {
			at := int64(i)
			last := len(want) - 1
			switch {
			case m.typ == unix.F_UNLCK:
			case last >= 0 && want[last].end == at-1 && want[last].typ == m.typ && want[last].thread == m.thread:
				want[last].end = at
			default:
				want = append(want, span{start: at, end: at, typ: m.typ, thread: m.thread})
			}
		}
		require.Equal(t, []span(want), append([]span(nil), held...))
	})
}
