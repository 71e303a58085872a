package integration

import (
	"fmt"
	"sort"
	"strings"
)

// raceTable prints what the races came to, line by line, since a long run may
// be looked at while it runs: row × surface × mode.
type raceTable struct{ lines, done, swaps int }

const raceLine = "[table] %-5s %-10s %-7s %10v %8v %8v %9v  %-32s %s\n"

func newRaceTable() *raceTable {
	fmt.Printf(raceLine, "row", "surface", "mode", "operations", "swaps", "escaped", "worked", "refused by", "escaped unguarded")
	return &raceTable{}
}

// add prints one race: guarded, and what escaped of the same without guard.
func (b *raceTable) add(r race, s Surface, mode string, c, free count) {
	b.lines++
	b.done += c.done
	b.swaps += c.swaps
	unguarded := "-"
	if free.done > 0 {
		unguarded = fmt.Sprintf("%d of %d", free.escaped, free.done)
	}
	fmt.Printf(raceLine, r.id, s.Name(), mode, c.done, c.swaps, c.escaped, share(c.Worked, c.done), refusals(c), unguarded)
}

// sum prints the last line.
func (b *raceTable) sum() {
	fmt.Printf("[table] %d races, %d operations, %d swaps\n", b.lines, b.done, b.swaps)
}

// refusals are the rules and errnos with their share of the operations, the
// most frequent first.
func refusals(c count) string {
	why := make([]string, 0, len(c.Failed))
	for w := range c.Failed {
		why = append(why, w)
	}
	sort.Slice(why, func(i, k int) bool {
		a, b := c.Failed[why[i]], c.Failed[why[k]]
		return a > b || a == b && why[i] < why[k]
	})
	for i, w := range why {
		why[i] = w + " " + share(c.Failed[w], c.done)
	}
	return strings.Join(why, ", ")
}

func share(n, of int) string { return fmt.Sprintf("%.2f%%", 100*float64(n)/float64(max(of, 1))) }
