package sandboxfs

import (
	"slices"
	"sync"
	"sync/atomic"
)

// maxAnswering bounds how many goroutines of a view answer requests at a time,
// besides one for each connection. Each may hold a thread and a buffer. Beyond
// it requests wait in the kernel until one of those is done.
const maxAnswering = 256

// transport has the requests of a view's connections answered.
type transport struct {
	within    func(lead func()) // runs lead, which answers requests
	answering atomic.Int32      // goroutines in lead that lead no more
	company   company           // what a leader begins with

	watching atomic.Bool   // the watchdog is awake
	wake     chan struct{} // to wake it, holds one

	mu      sync.Mutex // guards what follows
	leaders []*leader
	ended   chan struct{} // of the watchdog; nil while there is no connection
}

// newTransport makes one whose goroutines are run by within.
func newTransport(within func(lead func())) *transport {
	return &transport{within: within, company: newCompany(), wake: make(chan struct{}, 1)}
}

// add has the requests of c answered from now on.
func (t *transport) add(c *connection) {
	l := &leader{c: c, t: t, company: t.company}
	c.lead = l
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaders = append(t.leaders, l)
	if t.ended == nil {
		t.ended = make(chan struct{})
		go t.watchdog(t.ended)
	}
	go t.within(l.lead)
}

// remove forgets a connection that has ended.
func (t *transport) remove(l *leader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaders = slices.DeleteFunc(t.leaders, func(other *leader) bool { return other == l })
	if len(t.leaders) == 0 {
		close(t.ended)
		t.ended = nil
	}
}

// takeOver takes the lead from a goroutine that is still at its turn, and
// gives it to another, if there may be one more.
func (t *transport) takeOver(l *leader, turn uint64) {
	if t.answering.Add(1) > maxAnswering || !l.turn.CompareAndSwap(turn, turn+1) {
		t.answering.Add(-1)
		return
	}
	go t.within(l.lead)
}
