//go:build !portable

package fileskills

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKilled: a process that is killed while it writes leaves each file with
// what it had or what it got, and nothing beside it that the next write in the
// directory does not take away.
func TestKilled(t *testing.T) {
	const rounds = 40
	w := newWorld(t)
	leftovers := 0
	for range rounds {
		p := start(t, "write", w.root, "0")
		p.goAhead(t)
		for range rand.IntN(20) + 1 {
			p.line(t)
		}
		pause := time.NewTimer(time.Duration(rand.IntN(400)) * time.Microsecond)
		<-pause.C // somewhere within the next write
		require.NoError(t, p.cmd.Process.Kill())
		_ = p.cmd.Wait()
		for _, name := range w.names("out") {
			if name == ".pinfold-new" {
				leftovers++
				continue
			}
			text := w.read("out/" + name)
			m := wholeText.FindStringSubmatch(text)
			require.NotNil(t, m, "%s is torn: %q", name, clip(text, 50))
			var n int
			_, err := fmt.Sscan(m[1], &n)
			require.NoError(t, err)
			require.Equal(t, whole(n), text, "%s is torn", name)
		}
	}
	t.Logf("%d of %d left a name behind", leftovers, rounds)
	w.ok("write_file", args{"path": "out/f0", "content": "last\n"})
	for _, name := range w.names("out") {
		require.True(t, strings.HasPrefix(name, "f"), "%s was left", name)
	}
}
