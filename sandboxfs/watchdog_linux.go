package sandboxfs

import "time"

// patience is how long a request may take before others need not wait for it:
// once or twice that, since the watchdog looks at the clock only.
const patience = 2 * time.Millisecond

// quietTicks without a request send the watchdog to sleep.
const quietTicks = 10

func (t *transport) wakeWatchdog() {
	t.watching.Store(true)
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// watchdog has another goroutine lead where a request takes long. It sleeps
// while there are no requests.
func (t *transport) watchdog(ended <-chan struct{}) {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for quiet := 0; ; {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		if t.look() {
			quiet = 0
			continue
		}
		if quiet++; quiet < quietTicks {
			continue
		}
		quiet = 0
		tick.Stop()
		t.watching.Store(false)
		if !t.look() { // or a request began before it could know
			select {
			case <-ended:
				return
			case <-t.wake:
			}
		}
		t.watching.Store(true)
		tick.Reset(patience)
	}
}

// look looks after all leaders, and reports whether there were requests since
// it did before.
func (t *transport) look() (busy bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.leaders {
		switch now := l.turn.Load(); {
		case now != l.seen:
			l.seen, busy = now, true
		case now&1 == 1:
			t.takeOver(l, now)
			busy = true
		}
	}
	return busy
}
