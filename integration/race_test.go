package integration

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/ops"
)

// long says that this is the long run: `make long`.
var long = os.Getenv("PINFOLD_LONG") != ""

// The numbers of raced operations per row, surface and mode. The long run
// comes to 100,000 a row and surface. Where the names are old the kernel
// answers most operations in a view before they get to a race, so that there it
// takes the rows with fresh names, and the others are for completeness.
const (
	racedLong, viewedOldLong  = 50_000, 5_000
	racedShort                = 3_000        // in the test process
	servedShort               = 500          // through a server, from another process
	viewedShort               = 160          // through a view, from another process
	escapesLeast, escapesMost = 500, 500_000 // until the first escape without the guard
)

// The time that a race takes at least, so that the attacker gets its share,
// and how long it goes on on a busy machine until it did.
const raceLeast, raceMost = 50 * time.Millisecond, 20 * time.Second

// racesVoid is how often a race may be run in which operation and attacker do not meet.
const racesVoid = 10

// race is one row R of the catalogue: an attacker exchanges two names, or
// plants a link, while an operation runs again and again. Where a row has
// names of its own for each operation, "#" is the operation's number.
type race struct {
	id, title string
	policy    []string
	attack    []string // role of insider and its arguments, beneath root
	op        ops.Op
	inside    string // what a good operation gives
	batch     int    // operations between two looks at the disk; 0: batchUsual

	setup   func(g *ground)                // once, beside the common tree
	prepare func(g *ground, n string)      // before operation n
	escaped func(g *ground, n string) bool // did operation n act outside? Repairs what it finds.
	clear   func(g *ground, n string)      // after operation n

	mustWork bool // R10: the operation may not even fail
	mayWork  bool // refused or not, the operation may always look as if it worked
	heavy    bool // each operation needs trees of its own: fewer of them in the short run
	fresh    bool // no operation knows a name of another one
	restless bool // R08: it takes two swaps within one operation, so the attacker never rests
}

// The numbers of operations that a victim does without a word to the test.
// Where an attacker has to visit the names of a whole batch, a small batch
// makes it swap each of them in about the time of one operation.
const (
	batchUsual = 250
	batchFresh = 16
)

// allRaces are the rows of the catalogue, and each again with fresh names.
var allRaces = append(races, freshRaces...)

// TestRaces runs every row R over every surface in both modes. No operation
// may escape, ever; the same race without the guard must.
func TestRaces(t *testing.T) {
	na := notApplicable(t)
	table := newRaceTable()
	for _, r := range allRaces {
		t.Run(r.id, func(t *testing.T) {
			for _, s := range surfaces {
				if _, reason := na.Without(s.Name(), r.row()); reason == 0 && na.Reason(s.Name(), r.id) == 0 {
					t.Run(s.Name(), func(t *testing.T) { raceOn(t, s, r, table) })
				}
			}
		})
	}
	table.sum()
}

func raceOn(t *testing.T, s Surface, r race, table *raceTable) {
	free := count{}
	if !r.mustWork {
		t.Run("unguarded", func(t *testing.T) {
			g := newGround(t, s, r)
			free = r.run(g, s.Unguarded(t, g.site), func(c count, took time.Duration) bool {
				return c.done >= escapesMost || c.escaped > 0 && c.done >= escapesLeast
			})
			require.NotZero(t, free.escaped, "void: unguarded, the race does not escape either")
		})
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			n, both := operations(s, r), r.meetsBoth(s)
			// On a busy machine the attacker may get no share of it for as long as a
			// race goes on: that one is void, and run again.
			var c count
			for range racesVoid {
				g := newGround(t, s, r)
				e, err := s.Start(t, g.site, r.policy, mode)
				require.NoError(t, err)
				c = r.run(g, e, func(c count, took time.Duration) bool {
					return c.done >= n && took >= raceLeast && (!both || c.metBoth() || took > raceMost)
				})
				require.Zero(t, c.escaped, "%s: %d of %d operations escaped", r.id, c.escaped, c.done)
				require.True(t, !r.mustWork || c.Worked == c.done, "%d of %d worked; last failure: %s %v", c.Worked, c.done, c.Last, c.Other)
				if c.attacked() && (!both || c.metBoth()) {
					break
				}
			}
			require.True(t, c.attacked(), "hardly an attack: %d swaps in %d operations, of which %d worked", c.swaps, c.done, c.Worked)
			require.True(t, !both || c.metBoth(), "%d of %d worked beside %d swaps: there was no race (%s)", c.Worked, c.done, c.swaps, c.Last)
			table.add(r, s, mode, c, free)
		})
	}
}

// attacked reports whether the attacker did enough for a race.
func (c count) attacked() bool { return c.swaps > min(20, c.done/100) }

// operations is how many the race is to have.
func operations(s Surface, r race) int {
	switch {
	case long && s.InView() && !r.fresh:
		return viewedOldLong
	case long:
		return racedLong
	case s.InView():
		return viewedShort
	case r.heavy || r.fresh:
		return racedShort / 10
	case strings.HasPrefix(s.Name(), "mcp-"):
		return servedShort
	}
	return racedShort
}

// meetsBoth says that operations of the race are bound to meet both sides of
// the swap, and to fare differently. In a view the kernel remembers names, so
// that there it takes fresh ones.
func (r race) meetsBoth(s Surface) bool {
	return !r.mustWork && !r.mayWork && (r.fresh || !s.InView())
}

// metBoth reports whether some worked and some did not.
func (c count) metBoth() bool { return 0 < c.Worked && c.Worked < c.done }

// row is the race as a row of the corpus, for the list of what surfaces lack.
func (r race) row() cases.Row {
	return cases.Row{ID: r.id, Title: r.title, Lines: []cases.Line{{Kind: cases.LineOp, Words: []string{r.op.Verb}}}}
}
