package worker

import "time"

// Timer counts the time between Start and Stop, so that a row can prepare and
// clear up off the clock.
type Timer struct {
	spent time.Duration
	since time.Time
}

// Start lets the time run.
func (t *Timer) Start() { t.since = time.Now() }

// Stop holds it.
func (t *Timer) Stop() { t.spent += time.Since(t.since) }
