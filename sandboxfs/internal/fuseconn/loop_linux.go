package fuseconn

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// maxAnswering bounds how many goroutines of a Server answer requests at a time,
// besides one for each connection. Each may hold a thread and a buffer. Beyond
// it requests wait in the kernel until one of those is done.
const maxAnswering = 256

// Server has the requests of some connections answered.
type Server struct {
	run       func(loop func())
	answering atomic.Int32 // goroutines that answer and are not the reader loop any more
	colocate  colocation   // what a reader loop begins with

	watching atomic.Bool   // the watchdog is awake
	wake     chan struct{} // to wake it, holds one

	mu    sync.Mutex // guards what follows
	loops []*loop
	ended chan struct{} // of the watchdog; nil while there is no connection
}

// NewServer returns a Server. run runs a goroutine that answers requests: it
// calls loop once, on a thread with the rights that a Handler is to have.
func NewServer(run func(loop func())) *Server {
	return &Server{run: run, colocate: newColocation(), wake: make(chan struct{}, 1)}
}

// Answering is how many requests are answered beside the reader loops, for tests.
func (s *Server) Answering() int { return int(s.answering.Load()) }

// ColocateAlways has connections made from now on co-locate at each request that
// somebody waits for, for tests: it is the most that reader loops can change.
func (s *Server) ColocateAlways() { s.colocate = colocation{} }

// add has the requests of a connection answered from now on.
func (s *Server) add(l *loop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loops = append(s.loops, l)
	if s.ended == nil {
		s.ended = make(chan struct{})
		go s.watchdog(s.ended)
	}
	go s.run(l.run)
}

// remove forgets a connection that has ended.
func (s *Server) remove(l *loop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loops = slices.DeleteFunc(s.loops, func(other *loop) bool { return other == l })
	if len(s.loops) == 0 {
		close(s.ended)
		s.ended = nil
	}
}

// handOver starts another goroutine as the reader loop, if the present one is
// still at this turn and there may be one more. The present one ends with its
// answer.
func (s *Server) handOver(l *loop, turn uint64) {
	if s.answering.Add(1) > maxAnswering || !l.turn.CompareAndSwap(turn, turn+1) {
		s.answering.Add(-1)
		return
	}
	go s.run(l.run)
}

// loop is the reader loop of one connection: the one goroutine that waits for a
// request, answers it and waits for the next. That saves a change of threads for each
// request, which costs as much as a small request does: a bare loop of one thread took
// 5.9 µs for a request on one processor, and go-fuse's server, which hands it over and
// needs memory for it, 10.8.
//
// While it answers, turn is odd. The first to make it even, by one compare-and-swap,
// decides who reads the next request:
//
//   - the goroutine itself, when it has answered: it goes on reading;
//   - the Handler before something slow (Conn.Slow), co-location (answerBeside),
//     or the watchdog when it sees the same turn twice: then a new goroutine is
//     the reader loop, and the old one ends with its answer.
//
// So a connection always has exactly one reader loop. A request waits for another one
// no longer than the watchdog's patience, unless maxAnswering requests take longer
// than that.
type loop struct {
	c      *Conn
	server *Server
	turn   atomic.Uint64
	unique atomic.Uint64 // of the request that is answered in this turn
	seen   uint64        // the turn that the watchdog saw

	colocate colocation // belongs to the goroutine that is the reader loop
}

func newLoop(c *Conn, s *Server) *loop { return &loop{c: c, server: s, colocate: s.colocate} }

// run answers requests until another goroutine is the reader loop, or the
// connection ends.
func (l *loop) run() {
	buf := getBuffer()
	defer putBuffer(buf)
	since := clock()
	for now := since; ; now = clock() {
		since = yield(since, now)
		q, err := l.c.read(buf)
		if err != nil {
			l.server.remove(l)
			l.c.end(err)
			return
		}
		got := clock()
		l.colocate.waited(got.Sub(now))
		l.c.busy.Add(1)
		if !l.answer(q, q.awaited() && l.colocate.wanted(got)) {
			l.server.answering.Add(-1)
			return
		}
	}
}

var began = time.Now()

// clock is time.Now without the time of day, which would have to be asked for: 60 ns
// and not 160, twice a request.
func clock() time.Time { return began.Add(time.Since(began)) }

// answer answers a request in one turn, and has the next reader loop run beside
// the process that asked if it is to. It reports whether the caller is still the
// reader loop.
func (l *loop) answer(q request, beside bool) (still bool) {
	l.unique.Store(q.unique())
	turn := l.turn.Add(1)
	if !l.server.watching.Load() {
		l.server.wakeWatchdog()
	}
	if beside {
		return l.answerBeside(q, turn)
	}
	l.c.answer(q)
	return l.turn.CompareAndSwap(turn, turn+1)
}

// Slow is called by the Handler before a request does what may take long: other
// requests are answered meanwhile. Without it they wait until the watchdog looks.
func (c *Conn) Slow(h *fuse.InHeader) { c.slow(h.Unique) }

func (c *Conn) slow(unique uint64) {
	l := c.loop
	if turn := l.turn.Load(); turn&1 == 1 && l.unique.Load() == unique {
		l.server.handOver(l, turn)
	}
}

// slice is how long a reader loop runs before it lets the Go scheduler see it.
const slice = 5 * time.Millisecond

// yield lets the scheduler see this goroutine once in a slice. One that it has
// not seen for 10 ms, though only waiting in system calls, it takes for one
// that hogs its P: sysmon (runtime/proc.go) then takes the P away at each of its
// ticks, and keeps ticking every 20 µs. Together with processors to spare and with
// decoding in place, this took a third off the server's time for a request.
func yield(since, now time.Time) time.Time {
	if now.Sub(since) < slice {
		return since
	}
	runtime.Gosched()
	return now
}
