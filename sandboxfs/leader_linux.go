package sandboxfs

import (
	"runtime"
	"sync/atomic"
	"time"
)

// leader answers the requests of one connection.
//
// One goroutine leads: it waits for a request, answers it and waits for the
// next, which saves the change of threads that would cost as much as a small
// request does. There is exactly one as long as the connection is there:
//
//   - While it answers, turn is odd. Whoever makes it even has the lead to give:
//     the one that leads itself, when it is done; who serves the request,
//     before something that may take long (slow) or to share a processor with
//     who asked (joinCaller); the watchdog, when it sees the same turn twice.
//     All but the first start another goroutine to lead, and the one that led
//     ends with its answer.
//   - One that waits for what others do (F_SETLKW) is no longer the leader's:
//     it waits in a goroutine of its own, without a thread or a buffer. There
//     are as many as threads that wait inside the view.
//
// So no request waits for another one for longer than the watchdog's patience,
// as long as there are fewer than maxAnswering that take longer; and none is
// answered by asking one of our own connections.
type leader struct {
	c      *connection
	t      *transport
	turn   atomic.Uint64
	unique atomic.Uint64 // of the request that is answered in this turn
	seen   uint64        // the turn that the watchdog saw

	company company // of who leads
}

// lead answers requests until somebody else leads, or the connection ends.
func (l *leader) lead() {
	buf := getBuffer()
	defer putBuffer(buf)
	since := time.Now()
	for now := since; ; now = time.Now() {
		since = yield(since, now)
		q, err := l.c.read(buf)
		if err != nil {
			l.t.remove(l)
			l.c.end(err)
			return
		}
		got := time.Now()
		l.company.waited(got.Sub(now))
		l.c.busy.Add(1)
		if q.waits() {
			l.c.waits.Store(q.unique(), nil)
			go l.c.wait(q.detached()) // not in within: what a lock opens it opens with all rights
			continue
		}
		if !l.answer(q, q.awaited() && l.company.wanted(got)) {
			l.t.answering.Add(-1)
			return
		}
	}
}

// answer answers a request in a turn of the leader's, and has the next one lead
// where who asked is if it is to join. It reports whether the lead is still the
// caller's.
func (l *leader) answer(q request, join bool) (mine bool) {
	l.unique.Store(q.unique())
	turn := l.turn.Add(1)
	if !l.t.watching.Load() {
		l.t.wakeWatchdog()
	}
	if join {
		return l.joinCaller(q, turn)
	}
	l.c.answer(q)
	return l.turn.CompareAndSwap(turn, turn+1)
}

// slow has another goroutine lead, if the one that answers this request does:
// others had better not wait for what comes now. Without it they would wait
// until the watchdog looks.
func (l *leader) slow(unique uint64) {
	if turn := l.turn.Load(); turn&1 == 1 && l.unique.Load() == unique {
		l.t.takeOver(l, turn)
	}
}

// slice is how long a goroutine leads before it lets the Go scheduler see it.
const slice = 5 * time.Millisecond

// yield lets the scheduler see this goroutine once in a slice. One that it has
// not seen for 10 ms, though only waiting in system calls, it takes for one
// that hogs its P: sysmon (runtime/proc.go) then takes the P away at each of its
// ticks, and keeps ticking every 20 µs.
func yield(since, now time.Time) time.Time {
	if now.Sub(since) < slice {
		return since
	}
	runtime.Gosched()
	return now
}
