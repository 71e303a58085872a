package sandboxfs

import (
	"context"
	"sync"
	"time"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

const (
	// toConsult is the status of an operation that Ask has to be asked about. It
	// has touched nothing, and is done once more with the leave.
	toConsult fuse.Status = 1<<30 + iota
	// answeredLater is the status of a request that is answered apart.
	answeredLater
)

// questions are what requests have to put to Ask, from where the rules are
// asked to where no lock is held any more.
type questions struct {
	mu  sync.Mutex
	all map[uint64]AskRequest // by the request's unique id
}

func (qs *questions) put(unique uint64, q AskRequest) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.all == nil {
		qs.all = map[uint64]AskRequest{}
	}
	qs.all[unique] = q
}

func (qs *questions) take(unique uint64) AskRequest {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.all[unique]
	delete(qs.all, unique)
	return q
}

// ask is refuse for what leave may be given for: toConsult where Ask is to be
// asked first. leave is what was given already. What would be refused with leave
// too is refused now.
func (p *part) ask(h *fuse.InHeader, call string, d *pathresolver.DeniedError, leave pathresolver.Granting, a act) fuse.Status {
	asks := p.v.asks
	if asks == nil || leave != nil || d.Rule != pathresolver.RuleAsk {
		return p.refuse(h, call, d)
	}
	q := AskRequest{Accesses: a.accesses(p.r), Syscall: call, PID: h.Pid, UID: h.Uid, Program: programOf(h.Pid)}
	if final := a.decide(p.r, pathresolver.Leave(q.Accesses...)); final != nil {
		return p.refuse(h, call, final)
	}
	q.Wait = call == "open" && asks.wait != 0
	if !q.Wait && asks.atOnce(q) {
		return p.refuse(h, call, d)
	}
	p.questions.put(h.Unique, q)
	return toConsult
}

// futile says what keeps a file from being opened besides the rules that ask:
// then nobody is asked, and no leave is used up.
func (p *part) futile(h *fuse.InHeader, call string, n *node, a act) fuse.Status {
	var sx unix.Statx_t
	fd, _, err := p.open(n, unix.O_PATH, &sx)
	if err != nil {
		return status(err)
	}
	defer closeFD(fd)
	mask := uint32(0)
	if a.reads || a.op == pathresolver.OpRead {
		mask |= unix.R_OK
	}
	if a.op == pathresolver.OpWrite {
		mask |= unix.W_OK
		if sx.Nlink > 1 {
			if _, d := p.r.CheckLinks(a.place, fileID(&sx)); d != nil {
				return p.refuse(h, call, d)
			}
		}
	}
	return status(unix.Faccessat2(fd, "", mask, unix.AT_EMPTY_PATH|unix.AT_EACCESS))
}

// consult puts the question of a request to Ask, who does not wait for anybody,
// and returns the leave or the refusal. No lock is held.
func (p *part) consult(h *fuse.InHeader) (pathresolver.Granting, fuse.Status) {
	asks, q := p.v.asks, p.questions.take(h.Unique)
	if !admit(&asks.consulting, maxConsulting) {
		return nil, p.refuseAsked(h, &q, "too many operations are asked for at once")
	}
	defer asks.consulting.Add(-1)
	p.slow(h)
	ctx, end := p.conn.interrupts.begin(h.Unique)
	defer end()
	ctx, stop := context.WithTimeout(ctx, consultWithin)
	defer stop()
	return p.answerOf(ctx, h, &q)
}

// answerOf is the leave that Ask gives, or the refusal.
func (p *part) answerOf(ctx context.Context, h *fuse.InHeader, q *AskRequest) (pathresolver.Granting, fuse.Status) {
	switch err := p.v.asks.put(ctx, *q); err {
	case nil:
		return pathresolver.Leave(q.Accesses...), fuse.OK
	case errInterrupted:
		return nil, fuse.EINTR
	case context.DeadlineExceeded:
		return nil, p.refuseAsked(h, q, "nobody has answered yet")
	default:
		return nil, p.refuseAsked(h, q, err.Error())
	}
}

// refuseAsked reports what Ask did not allow.
func (p *part) refuseAsked(h *fuse.InHeader, q *AskRequest, answer string) fuse.Status {
	p.v.refusals.add(Refusal{
		Time: time.Now(), PID: h.Pid, UID: h.Uid, Op: q.Accesses[0].Op, Place: q.Accesses[0].Place,
		Rule: pathresolver.RuleAsk, Errno: unix.EACCES, Syscall: q.Syscall, Answer: answer,
	})
	return fuse.EACCES
}

// openLater has the open of a file wait for an answer in a goroutine of its own,
// without a thread, a buffer or a lock, as long as nobody answers.
func (p *part) openLater(in *fuse.OpenIn) fuse.Status {
	asks, q := p.v.asks, p.questions.take(in.Unique)
	if !admit(&asks.waiting, maxWaiting) {
		return p.refuseAsked(&in.InHeader, &q, "too many wait for an answer")
	}
	p.conn.busy.Add(1) // besides the one of who answers this request now
	go p.openAsked(*in, q)
	return answeredLater
}

// openAsked waits for the answer and opens the file, if it may, from the
// beginning: what was found before the wait counts no more.
func (p *part) openAsked(in fuse.OpenIn, q AskRequest) {
	defer p.conn.busy.Done()
	leave, st := p.await(&in.InHeader, &q)
	var room [outHeaderSize + unsafe.Sizeof(fuse.OpenOut{})]byte
	answer := request{unsafe.Slice((*byte)(unsafe.Pointer(&in)), unsafe.Sizeof(in)), room[:]}
	size := 0
	out := answerOf[fuse.OpenOut](answer, &size)
	if st == fuse.OK {
		p.conn.lead.t.within(func() { st = p.open1(&in, out, leave) })
	}
	p.conn.reply(answer, answer.finish(size, st))
}

// await waits for the answer.
func (p *part) await(h *fuse.InHeader, q *AskRequest) (pathresolver.Granting, fuse.Status) {
	asks := p.v.asks
	defer asks.waiting.Add(-1)
	ctx, end := p.conn.interrupts.begin(h.Unique)
	defer end()
	if asks.wait > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, asks.wait)
		defer stop()
	}
	return p.answerOf(ctx, h, q)
}
