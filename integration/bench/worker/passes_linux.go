package worker

import (
	"slices"
	"time"
)

// timed is how often a row of data is done by the clock in one round. Rows that
// make many files take too long to be done more than once.
const timed = 3

// passes does a row once off the clock and n times by it, and keeps the middle
// one. The first pass is not counted since the kernel takes memory for it: what
// the machine has never handed out before, or what the contestant before this
// one has just filled, costs several times as much as what a pass of our own
// has given back, and whom that hits is chance.
func (j *Job) passes(n int, do func() error) error {
	var spent []time.Duration
	for i := range n + 1 {
		j.spent = 0
		if err := do(); err != nil {
			return err
		}
		if i > 0 {
			spent = append(spent, j.spent)
		}
	}
	slices.Sort(spent)
	j.spent = spent[len(spent)/2]
	return nil
}
