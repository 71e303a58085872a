package sandboxfs

import (
	"context"
	"io/fs"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// act is an operation as the rules are asked about it.
type act struct {
	op       pathresolver.Op
	place    string
	kind     fs.FileMode // of what OpCreate makes
	to       string      // of OpRename and OpLink
	exchange bool
	reads    bool // content too, besides what op says
}

// decide asks the rules about all of it.
func (a act) decide(r *pathresolver.Resolver, leave pathresolver.Grant) *pathresolver.DeniedError {
	switch a.op {
	case pathresolver.OpRename:
		return r.DecideRenameGranted(leave, a.place, a.to, a.exchange)
	case pathresolver.OpLink:
		return r.DecideLinkGranted(leave, a.place, a.to)
	}
	if d := r.DecideGranted(leave, a.op, a.place, a.kind); d != nil || !a.reads {
		return d
	}
	return r.DecideGranted(leave, pathresolver.OpRead, a.place, 0)
}

// accesses are what leave is needed for: what a move or another name takes out
// of reach of a rule about reading can be read from then on.
func (a act) accesses(r *pathresolver.Resolver) []access.Access {
	is := func(op pathresolver.Op, place string) access.Access {
		return access.Access{Action: op.Action(), Resource: place}
	}
	var all []access.Access
	switch a.op {
	case pathresolver.OpRename:
		all = append(all, is(a.op, a.place), is(a.op, a.to))
		if a.exchange && r.Verdict(a.to).AskRead {
			all = append(all, is(pathresolver.OpRead, a.to))
		}
	case pathresolver.OpLink:
		all = append(all, is(pathresolver.OpRename, a.place), is(pathresolver.OpWrite, a.place), is(pathresolver.OpCreate, a.to))
	default:
		all = append(all, is(a.op, a.place))
	}
	if a.reads || a.to != "" && r.Verdict(a.place).AskRead {
		all = append(all, is(pathresolver.OpRead, a.place))
	}
	return all
}

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
func (p *part) ask(h *fuse.InHeader, call string, d *pathresolver.DeniedError, leave pathresolver.Grant, a act) fuse.Status {
	asks := p.v.asks
	if asks == nil || leave != nil || d.Rule != pathresolver.RuleAsk {
		return p.refuse(h, call, d)
	}
	q := AskRequest{Accesses: a.accesses(p.r), Syscall: call, PID: h.Pid, UID: h.Uid, Program: programOf(h.Pid)}
	if final := a.decide(p.r, pathresolver.GrantFor(q.Accesses...)); final != nil {
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

// toConsult is the status of an operation that Ask has to be asked about. It has
// touched nothing, and is done once more with the leave.
const toConsult fuse.Status = 1 << 30

// consult puts the question of a request to Ask, who does not wait for anybody,
// and returns the leave or the refusal. No lock is held.
func (p *part) consult(h *fuse.InHeader) (pathresolver.Grant, fuse.Status) {
	asks, q := p.v.asks, p.questions.take(h.Unique)
	if !admit(&asks.consulting, maxConsulting) {
		return nil, p.refuseAsked(h, &q, "too many operations are asked for at once")
	}
	defer asks.consulting.Add(-1)
	p.slow(h)
	ctx, end := p.conn.Context(h)
	defer end()
	ctx, stop := context.WithTimeout(ctx, consultWithin)
	defer stop()
	return p.answerOf(ctx, h, &q)
}

// answerOf is the leave that Ask gives, or the refusal.
func (p *part) answerOf(ctx context.Context, h *fuse.InHeader, q *AskRequest) (pathresolver.Grant, fuse.Status) {
	switch err := p.v.asks.put(ctx, *q); err {
	case nil:
		return pathresolver.GrantFor(q.Accesses...), fuse.OK
	case fuseconn.ErrInterrupted:
		return nil, fuse.EINTR
	case context.DeadlineExceeded:
		return nil, p.refuseAsked(h, q, "nobody has answered yet")
	default:
		return nil, p.refuseAsked(h, q, err.Error())
	}
}

// refuseAsked reports what Ask did not allow.
func (p *part) refuseAsked(h *fuse.InHeader, q *AskRequest, answer string) fuse.Status {
	about := q.Accesses[0]
	op, _ := about.Action.Op()
	p.v.refusals.add(Refusal{
		Time: time.Now(), PID: h.Pid, UID: h.Uid, Op: op, Place: about.Resource,
		Rule: pathresolver.RuleAsk, Errno: unix.EACCES, Syscall: q.Syscall, Answer: answer,
	})
	return fuse.EACCES
}

// openLater has the open of a file wait for an answer, as long as nobody gives
// one. Then it is done from the beginning: what was found before the wait counts
// no more.
func (p *part) openLater(in *fuse.OpenIn) fuseconn.Reply {
	asks, q := p.v.asks, p.questions.take(in.Unique)
	if !admit(&asks.waiting, maxWaiting) {
		return fuseconn.Reply{Status: p.refuseAsked(&in.InHeader, &q, "too many wait for an answer")}
	}
	again := *in
	return fuseconn.Reply{Later: func(ctx context.Context) (r fuseconn.Reply) {
		var leave pathresolver.Grant
		if leave, r.Status = p.await(ctx, &again.InHeader, &q); r.Status == fuse.OK {
			p.v.within(func() { r.Status = p.open1(&again, &r.Open, leave) })
		}
		return r
	}}
}

// await waits for the answer.
func (p *part) await(ctx context.Context, h *fuse.InHeader, q *AskRequest) (pathresolver.Grant, fuse.Status) {
	asks := p.v.asks
	defer asks.waiting.Add(-1)
	if asks.wait > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, asks.wait)
		defer stop()
	}
	return p.answerOf(ctx, h, q)
}
