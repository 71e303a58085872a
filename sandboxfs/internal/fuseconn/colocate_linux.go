package fuseconn

import "time"

// CPU co-location: the reader loop and the process that asks are brought to one
// processor.
//
// On a machine with little else to do the kernel wakes the reader loop on one
// processor and the process that asked on another, and each has gone to sleep
// meanwhile. On a virtual machine it takes 30 µs to wake one, ten times the rest
// of a small request. Where both share a processor it does not sleep, and a
// request costs two changes of context: the next comes almost as soon as it is
// waited for. Measured on a quiet virtual machine with two processors: 8 to 12 µs
// for a request instead of 60 to 80; as root tar x took 0.5, git clone 0.65 and git
// checkout 0.6 of the time without.
//
// The kernel wakes a thread where it last ran, unless that processor is busy and
// another is idle. So they are brought together while the process sleeps: the
// next reader loop is started on the processor that is idle now, which is the
// process's; and the last one keeps its own busy until the two have met there.

const (
	// In a wait for a request that is shorter than soon no processor went to
	// sleep. In one that is longer than late there was nothing to ask.
	soon = 15 * time.Microsecond
	late = 200 * time.Microsecond

	// They are apart when apartEnough more waits were from soon to late than were
	// shorter, and together when togetherEnough in a row were shorter.
	apartEnough    = 16
	togetherEnough = 32

	// keepBusy bounds for how long the last reader loop keeps its processor busy, its
	// answer included. At least leastPause passes before the next attempt, and up to
	// mostPause where attempts do not help.
	keepBusy   = 200 * time.Microsecond
	leastPause = 2 * time.Millisecond
	mostPause  = 160 * time.Millisecond

	// metAfter is how many requests the next reader loop has answered by then.
	metAfter = 8
)

// colocation decides when to bring them together. It belongs to the goroutine
// that is the reader loop, outside of a turn.
type colocation struct {
	enough      int // see apartEnough
	least, most time.Duration

	apart    int // waits from soon to late less shorter ones, 0 to twice enough
	together int // shorter ones in a row
	pause    time.Duration
	next     time.Time // when it may be tried again
}

func newColocation() colocation {
	return colocation{enough: apartEnough, least: leastPause, most: mostPause}
}

// waited notes how long the reader loop waited for a request.
func (c *colocation) waited(d time.Duration) {
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

// wanted reports whether to bring them together now. The pause before the next attempt
// grows as long as attempts fail.
func (c *colocation) wanted(now time.Time) bool {
	if c.apart < c.enough || now.Before(c.next) {
		return false
	}
	c.apart, c.together = 0, 0
	c.pause = max(c.pause, c.least)
	c.next = now.Add(c.pause)
	c.pause = min(2*c.pause, c.most)
	return true
}

// answerBeside answers a request in a turn of the reader loop's and starts the
// next one where the process is that asked. It reports whether the caller is
// still the reader loop.
func (l *loop) answerBeside(q request, turn uint64) (still bool) {
	until := time.Now().Add(keepBusy)
	l.server.handOver(l, turn)
	l.c.answer(q)
	if l.turn.CompareAndSwap(turn, turn+1) {
		return true // there are too many to have one more
	}
	for time.Now().Before(until) && l.turn.Load() <= turn+2*metAfter {
		continue
	}
	return false
}
