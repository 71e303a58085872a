package sandboxfs

import "time"

// patience is how long a request may take before others need not wait for it:
// once or twice that, since the watchdog looks at the clock only.
const patience = 2 * time.Millisecond

// quietTicks without a request send the watchdog to sleep.
const quietTicks = 10

func (l *leader) wakeWatchdog() {
	l.watching.Store(true)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// watchdog has another goroutine lead when a request takes long. It sleeps
// while there are no requests.
func (l *leader) watchdog(ended <-chan struct{}) {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	quiet, before := 0, l.turn.Load()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		now := l.turn.Load()
		switch {
		case now != before:
			quiet, before = 0, now
			continue
		case now&1 == 1:
			l.takeOver(now)
			continue
		}
		if quiet++; quiet < quietTicks {
			continue
		}
		quiet = 0
		tick.Stop()
		l.watching.Store(false)
		if l.turn.Load() == before { // or a request began before it could know
			select {
			case <-ended:
				return
			case <-l.wake:
			}
		}
		l.watching.Store(true)
		tick.Reset(patience)
	}
}

// takeOver takes the lead from a goroutine that is still at its turn, and
// gives it to another.
func (l *leader) takeOver(turn uint64) {
	if l.answering.Load() < maxAnswering && l.turn.CompareAndSwap(turn, turn+1) {
		l.answering.Add(1)
		go l.within(l.lead)
	}
}
