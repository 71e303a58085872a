package sandboxfs

import "time"

// On a machine with little else to do the kernel wakes the leader on one
// processor and who asked on another, and each has gone to sleep meanwhile. On a
// virtual machine it takes 30 µs to wake one, ten times the rest of a small
// request. Where both share a processor it does not sleep, and a request costs
// two changes of context: the next comes almost as soon as it is waited for.
//
// The kernel wakes a thread where it last ran, unless that processor is busy and
// another is idle. So they are brought together while who asked sleeps: the next
// leader is started, on the processor that is idle now, which is theirs; and the
// last one keeps its own busy until the two have met there.

const (
	// In a wait for a request that is shorter than soon no processor went to
	// sleep. In one that is longer than late there was nothing to ask.
	soon = 15 * time.Microsecond
	late = 200 * time.Microsecond

	// They are apart when apartEnough more waits were from soon to late than were
	// shorter, and together when togetherEnough in a row were shorter.
	apartEnough    = 16
	togetherEnough = 32

	// keepBusy bounds for how long the last leader is busy, its answer included.
	// Between two times there are at least leastPause, and up to mostPause where
	// it does not help.
	keepBusy   = 200 * time.Microsecond
	leastPause = 2 * time.Millisecond
	mostPause  = 160 * time.Millisecond

	// metAfter is how many requests the next leader has answered by then.
	metAfter = 8
)

// company is whether a leader and those who ask share a processor. It belongs
// to who leads, outside of a turn.
type company struct {
	enough      int // see apartEnough
	least, most time.Duration

	apart    int // waits from soon to late less shorter ones, 0 to twice enough
	together int // shorter ones in a row
	pause    time.Duration
	next     time.Time // when it may be sought again
}

func newCompany() company {
	return company{enough: apartEnough, least: leastPause, most: mostPause}
}

// waited notes how long the leader waited for a request.
func (c *company) waited(d time.Duration) {
	switch {
	case d < soon:
		c.apart = max(c.apart-1, 0)
		if c.together++; c.together >= togetherEnough {
			c.pause = c.least
		}
	case d < late:
		c.apart = min(c.apart+1, 2*c.enough)
		c.together = 0
	}
}

// wanted reports whether to bring them together now. The pause until the next
// time grows as long as that is in vain.
func (c *company) wanted(now time.Time) bool {
	if c.apart < c.enough || now.Before(c.next) {
		return false
	}
	c.apart, c.together = 0, 0
	c.pause = max(c.pause, c.least)
	c.next = now.Add(c.pause)
	c.pause = min(2*c.pause, c.most)
	return true
}

// joinCaller answers a request in a turn of the leader's and has the next one
// lead where who asked is. It reports whether the lead is still the caller's.
func (l *leader) joinCaller(q request, turn uint64) (mine bool) {
	until := time.Now().Add(keepBusy)
	l.t.takeOver(l, turn)
	l.c.answer(q)
	if l.turn.CompareAndSwap(turn, turn+1) {
		return true // there are too many to have one more
	}
	for time.Now().Before(until) && l.turn.Load() <= turn+2*metAfter {
		continue
	}
	return false
}
