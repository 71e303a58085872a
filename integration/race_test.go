package integration

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/ops"
)

// long says that this is the long run: `make race`.
var long = os.Getenv("PINFOLD_LONG") != ""

// The numbers of raced operations per row.
const (
	racedShort, racedLong     = 3_000, 100_000 // in the test process
	viewedShort, viewedLong   = 100, 10_000    // through a view, from another process
	escapesLeast, escapesMost = 500, 100_000   // until the first escape, at least and at most
)

// raceLeast is the time that a race takes at least, so that on a busy machine
// the attacker gets its share.
const raceLeast = 100 * time.Millisecond

// allRaces are the rows of the catalogue, and some again with fresh names.
var allRaces = append(races, freshRaces...)

// TestRaces runs every row R over every surface in both modes. No operation
// may escape, ever; the same race without the guard must.
func TestRaces(t *testing.T) {
	na := notApplicable(t)
	for _, r := range allRaces {
		t.Run(r.id, func(t *testing.T) {
			for _, s := range surfaces {
				if _, reason := na.Without(s.Name(), r.row()); reason == 0 && na.Reason(s.Name(), r.id) == 0 {
					t.Run(s.Name(), func(t *testing.T) { raceOn(t, s, r) })
				}
			}
		})
	}
}

func raceOn(t *testing.T, s Surface, r race) {
	n := racedShort
	switch {
	case s.InView() && long:
		n = viewedLong
	case s.InView():
		n = viewedShort
	case long && r.again:
		n = racedLong / 10
	case long:
		n = racedLong
	case r.heavy || r.again:
		n = racedShort / 10
	}
	var lines string
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			g := newGround(t, s, r)
			e, err := s.Start(t, g.site, r.policy, mode)
			require.NoError(t, err)
			c := r.run(g, e, n, false)
			require.Greater(t, c.swaps, n/100, "hardly an attack")
			require.Zero(t, c.escaped, "%s: %d of %d operations escaped", r.id, c.escaped, c.done)
			if r.mustWork {
				require.Equal(t, c.done, c.ok, "last failure: %s", c.last)
			} else if !s.InView() { // in a view the kernel may remember one of the two for long
				require.NotZero(t, c.ok, "nothing ever worked: the race did not run (%s)", c.last)
				require.True(t, r.mayWork || c.ok < c.done, "nothing was ever refused: the race did not run")
			}
			lines += fmt.Sprintf(" %s: %d done, %d worked, 0 escaped, %d swaps;", mode, c.done, c.ok, c.swaps)
		})
	}
	if r.mustWork {
		fmt.Printf("[table] %-4s %-10s%s\n", r.id, s.Name(), lines)
		return
	}
	t.Run("unguarded", func(t *testing.T) {
		g := newGround(t, s, r)
		c := r.run(g, s.Unguarded(t, g.site), escapesMost, true)
		require.NotZero(t, c.escaped, "void: unguarded, the race does not escape either")
		fmt.Printf("[table] %-4s %-10s%s unguarded: %d of %d escaped\n", r.id, s.Name(), lines, c.escaped, c.done)
	})
}

// row is the race as a row of the corpus, for the list of what surfaces lack.
func (r race) row() cases.Row {
	return cases.Row{ID: r.id, Title: r.title, Lines: []cases.Line{{Kind: cases.LineOp, Words: []string{r.op.Verb}}}}
}

// count is what came of the operations of a race.
type count struct {
	done, ok, escaped int
	swaps             int    // what the attacker did meanwhile
	last              string // the text of the last failure
}

// run races n operations against the attacker; untilEscape ends at the first
// escape, but not before a number that makes a ratio. Before the attack the
// operation works.
func (r race) run(g *ground, e ops.Executor, n int, untilEscape bool) (c count) {
	once := func() ops.Result {
		g.n++
		if r.reset != nil {
			r.reset(g)
		}
		return do(e, do1(r.op.Verb, g.numbered(r.op.Arg(0), 0), g.numbered(r.op.Arg(1), 0)), opLimit)
	}
	res := once()
	require.True(g.t, res.OK(), "%s fails before the attack: %s", r.op, res.Text)
	cmd := exec.Command(insiderPath, r.attack[0], r.attack[1], r.attack[2])
	cmd.Dir = g.root
	attacker := startPeer(g.t, cmd, g.uid)
	begin := time.Now()
	enough := func() bool {
		if untilEscape {
			return c.done >= n || c.escaped > 0 && c.done >= escapesLeast
		}
		return c.done >= n && time.Since(begin) >= raceLeast
	}
	for !enough() {
		res := once()
		c.done++
		require.NotEqual(g.t, ops.ErrHang.Error(), res.Text)
		switch {
		case cases.Leaks(res.Data) || r.escaped != nil && r.escaped(g):
			c.escaped++
		case res.OK():
			c.ok++
			require.Equal(g.t, r.inside, string(res.Data), "neither inside nor outside")
		default:
			c.last = res.Text
		}
	}
	require.NoError(g.t, attacker.in.Close())
	_, err := fmt.Fscan(attacker.out, &c.swaps)
	require.NoError(g.t, err, "the attacker ended early: %s", attacker.stderr)
	return c
}
