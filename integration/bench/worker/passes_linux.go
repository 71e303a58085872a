package worker

import (
	"slices"
	"time"
)

// timedPasses is how often a row of data is done by the clock in one round.
const timedPasses = 3

// passes does a row of data once off the clock and some times by it, and keeps
// the middle one. The first pass is not counted since the kernel takes memory
// for it: what the machine has never handed out before, or what the contestant
// before this one has just filled, costs several times as much as what a pass
// of our own has given back, and whom that hits is chance.
func (j *Job) passes(do func() error) error {
	var spent []time.Duration
	for i := range timedPasses + 1 {
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
