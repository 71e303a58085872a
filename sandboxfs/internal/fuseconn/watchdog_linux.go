package fuseconn

import "time"

// patience is how long a request may take before others need not wait for it:
// once or twice that, since the watchdog looks at the clock only.
const patience = 2 * time.Millisecond

// quietTicks without a request send the watchdog to sleep.
const quietTicks = 10

func (s *Server) wakeWatchdog() {
	s.watching.Store(true)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// watchdog starts another reader loop where a request takes long. With it no
// operation has to know for sure whether it may wait, for a disk or for a server
// beneath: one that did not say so (Conn.Slow) holds up the others for twice
// patience at most. It sleeps while there are no requests.
func (s *Server) watchdog(ended <-chan struct{}) {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for quiet := 0; ; {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		if s.look() {
			quiet = 0
			continue
		}
		if quiet++; quiet < quietTicks {
			continue
		}
		quiet = 0
		tick.Stop()
		s.watching.Store(false)
		if !s.look() { // or a request began before it could know
			select {
			case <-ended:
				return
			case <-s.wake:
			}
		}
		s.watching.Store(true)
		tick.Reset(patience)
	}
}

// look looks after all reader loops, and reports whether there were requests since
// it did before.
func (s *Server) look() (busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.loops {
		switch now := l.turn.Load(); {
		case now != l.seen:
			l.seen, busy = now, true
		case now&1 == 1:
			s.handOver(l, now)
			busy = true
		}
	}
	return busy
}
