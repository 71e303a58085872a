package sandboxfs

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// maxAnswering bounds how many goroutines of a view answer requests at a time,
// each of which may hold a thread and a buffer. Beyond it requests wait in the
// kernel until one of those is done.
const maxAnswering = 256

// leader answers the requests of all connections of a view.
//
// One goroutine leads: it waits for a request, answers it and waits for the
// next, which saves the change of threads that would cost as much as a small
// request does. There is exactly one while there are connections:
//
//   - Before a request that may take long the one that leads starts another
//     one to lead, and ends with its answer.
//   - While any other is answered, turn is odd. The watchdog starts another
//     one to lead when the same turn is seen twice; whoever makes it even,
//     watchdog or leader, has the lead to give, and the other one has lost it.
//   - One that waits for what others do (F_SETLKW) is no longer the leader's:
//     it waits in a goroutine of its own, without a thread or a buffer. There
//     are as many as threads that wait inside the view.
//
// So no request waits for another one for longer than the watchdog's patience,
// as long as fewer than maxAnswering take that long; and none is answered by
// asking one of our own connections.
type leader struct {
	within    func(lead func()) // runs lead, which answers requests
	epoll     int
	turn      atomic.Uint64
	answering atomic.Int32 // goroutines in lead

	watching atomic.Bool   // the watchdog is awake
	wake     chan struct{} // to wake it, holds one

	mu    sync.Mutex // guards what follows
	conns map[int32]*connection
	ended chan struct{} // of the watchdog; nil while nobody leads
}

// newLeader makes one whose goroutines are run by within.
func newLeader(within func(lead func())) *leader {
	return &leader{within: within, epoll: -1, conns: map[int32]*connection{}, wake: make(chan struct{}, 1)}
}

// add has the requests of c answered from now on.
func (l *leader) add(c *connection) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		var err error
		if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
			return err
		}
	}
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(c.fd)}); err != nil {
		if l.ended == nil {
			closeFD(l.epoll)
		}
		return err
	}
	l.conns[int32(c.fd)] = c
	if l.ended == nil {
		l.ended = make(chan struct{})
		go l.watchdog(l.ended)
		l.answering.Add(1)
		go l.within(l.lead)
	}
	return nil
}

// remove forgets a connection that has ended, and reports whether it was the
// last: then nobody leads any more.
func (l *leader) remove(c *connection) (last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = unix.EpollCtl(l.epoll, unix.EPOLL_CTL_DEL, c.fd, nil)
	delete(l.conns, int32(c.fd))
	if len(l.conns) > 0 {
		return false
	}
	closeFD(l.epoll)
	close(l.ended)
	l.ended = nil
	return true
}

// next waits until some connection has something to read.
func (l *leader) next(epoll int) *connection {
	var events [1]unix.EpollEvent
	for {
		n, err := unix.EpollWait(epoll, events[:], -1)
		if n != 1 || err != nil {
			continue
		}
		l.mu.Lock()
		c := l.conns[events[0].Fd]
		l.mu.Unlock()
		if c != nil {
			return c
		}
	}
}

// another has another goroutine lead, if there may be one more. Only who has
// the lead may call it.
func (l *leader) another() bool {
	if l.answering.Add(1) > maxAnswering {
		l.answering.Add(-1)
		return false
	}
	go l.within(l.lead)
	return true
}

// lead answers requests until somebody else leads, or no connection is left.
func (l *leader) lead() {
	defer l.answering.Add(-1)
	l.mu.Lock()
	epoll := l.epoll
	l.mu.Unlock()
	buf := getBuffer()
	defer putBuffer(buf)
	var c *connection
	for {
		if c == nil {
			c = l.next(epoll)
		}
		q, err := c.read(buf)
		switch {
		case err == unix.EAGAIN:
			c = nil
			continue
		case err != nil:
			last := l.remove(c)
			go c.end(err)
			if last {
				return
			}
			c = nil
			continue
		}
		c.busy.Add(1)
		switch {
		case q.waits():
			go c.answer(q.detached())
		case q.mayTakeLong() && l.another():
			c.answer(q)
			return
		default:
			answered, mine := l.answer(c, q)
			if !mine {
				return
			}
			if answered {
				c = nil // who asked is only now about to ask for more
			}
		}
	}
}

// answer answers a request in a turn of the leader's. The lead is not mine any
// more when the watchdog gave it to another.
func (l *leader) answer(c *connection, q request) (answered, mine bool) {
	turn := l.turn.Add(1)
	if !l.watching.Load() {
		l.wakeWatchdog()
	}
	answered = c.answer(q)
	return answered, l.turn.CompareAndSwap(turn, turn+1)
}
