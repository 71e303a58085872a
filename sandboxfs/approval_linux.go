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

// operation is an operation as the rules are asked about it.
type operation struct {
	op       pathresolver.Op
	place    string
	kind     fs.FileMode // of what OpCreate makes
	to       string      // of OpRename and OpLink
	exchange bool
	reads    bool // content too, besides what op says
}

// decide asks the rules about all of it.
func (o operation) decide(r *pathresolver.Resolver, leave pathresolver.Grant) *pathresolver.DeniedError {
	switch o.op {
	case pathresolver.OpRename:
		return r.DecideRenameGranted(leave, o.place, o.to, o.exchange)
	case pathresolver.OpLink:
		return r.DecideLinkGranted(leave, o.place, o.to)
	}
	if d := r.DecideGranted(leave, o.op, o.place, o.kind); d != nil || !o.reads {
		return d
	}
	return r.DecideGranted(leave, pathresolver.OpRead, o.place, 0)
}

// accesses are what leave is needed for: what a move or another name takes out
// of reach of a rule about reading can be read from then on.
func (o operation) accesses(r *pathresolver.Resolver) []access.Access {
	is := func(op pathresolver.Op, place string) access.Access {
		return access.Access{Action: op.Action(), Resource: place}
	}
	var all []access.Access
	switch o.op {
	case pathresolver.OpRename:
		all = append(all, is(o.op, o.place), is(o.op, o.to))
		if o.exchange && r.Verdict(o.to).AskRead {
			all = append(all, is(pathresolver.OpRead, o.to))
		}
	case pathresolver.OpLink:
		all = append(all, is(pathresolver.OpRename, o.place), is(pathresolver.OpWrite, o.place), is(pathresolver.OpCreate, o.to))
	default:
		all = append(all, is(o.op, o.place))
	}
	if o.reads || o.to != "" && r.Verdict(o.place).AskRead {
		all = append(all, is(pathresolver.OpRead, o.place))
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
func (c *connection) ask(h *fuse.InHeader, call string, d *pathresolver.DeniedError, leave pathresolver.Grant, a operation) fuse.Status {
	asks := c.v.asks
	if asks == nil || leave != nil || d.Rule != pathresolver.RuleAsk {
		return c.refuse(h, call, d)
	}
	q := AskRequest{Accesses: a.accesses(c.r), Syscall: call, PID: h.Pid, UID: h.Uid, Program: programOf(h.Pid)}
	if final := a.decide(c.r, pathresolver.GrantFor(q.Accesses...)); final != nil {
		return c.refuse(h, call, final)
	}
	q.Wait = call == "open" && asks.wait != 0
	if !q.Wait && asks.atOnce(q) {
		return c.refuse(h, call, d)
	}
	c.questions.put(h.Unique, q)
	return toConsult
}

// futile says what keeps a file from being opened besides the rules that ask:
// then nobody is asked, and no leave is used up.
func (c *connection) futile(h *fuse.InHeader, call string, n *node, a operation) fuse.Status {
	var sx unix.Statx_t
	fd, _, err := c.open(n, unix.O_PATH, &sx)
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
			if _, d := c.r.CheckLinks(a.place, fileID(&sx)); d != nil {
				return c.refuse(h, call, d)
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
func (c *connection) consult(h *fuse.InHeader) (pathresolver.Grant, fuse.Status) {
	asks, q := c.v.asks, c.questions.take(h.Unique)
	if !admit(&asks.consulting, maxConsulting) {
		return nil, c.refuseAsked(h, &q, "too many operations are asked for at once")
	}
	defer asks.consulting.Add(-1)
	c.slow(h)
	ctx, end := c.conn.Context(h)
	defer end()
	ctx, stop := context.WithTimeout(ctx, consultWithin)
	defer stop()
	return c.answerOf(ctx, h, &q)
}

// answerOf is the leave that Ask gives, or the refusal.
func (c *connection) answerOf(ctx context.Context, h *fuse.InHeader, q *AskRequest) (pathresolver.Grant, fuse.Status) {
	switch err := c.v.asks.put(ctx, *q); err {
	case nil:
		return pathresolver.GrantFor(q.Accesses...), fuse.OK
	case fuseconn.ErrInterrupted:
		return nil, fuse.EINTR
	case context.DeadlineExceeded:
		return nil, c.refuseAsked(h, q, "nobody has answered yet")
	default:
		return nil, c.refuseAsked(h, q, err.Error())
	}
}

// refuseAsked reports what Ask did not allow.
func (c *connection) refuseAsked(h *fuse.InHeader, q *AskRequest, answer string) fuse.Status {
	about := q.Accesses[0]
	op, _ := about.Action.Op()
	c.v.refusals.add(Refusal{
		Time: time.Now(), PID: h.Pid, UID: h.Uid, Op: op, Place: about.Resource,
		Rule: pathresolver.RuleAsk, Errno: unix.EACCES, Syscall: q.Syscall, Answer: answer,
	})
	return fuse.EACCES
}

// openLater has the open of a file wait for an answer, as long as nobody gives
// one. Then it is done from the beginning: what was found before the wait counts
// no more.
func (c *connection) openLater(in *fuse.OpenIn) fuseconn.Reply {
	asks, q := c.v.asks, c.questions.take(in.Unique)
	if !admit(&asks.waiting, maxWaiting) {
		return fuseconn.Reply{Status: c.refuseAsked(&in.InHeader, &q, "too many wait for an answer")}
	}
	again := *in
	return fuseconn.Reply{Later: func(ctx context.Context) (r fuseconn.Reply) {
		var leave pathresolver.Grant
		if leave, r.Status = c.await(ctx, &again.InHeader, &q); r.Status == fuse.OK {
			c.v.within(func() { r.Status = c.open1(&again, &r.Open, leave) })
		}
		return r
	}}
}

// await waits for the answer.
func (c *connection) await(ctx context.Context, h *fuse.InHeader, q *AskRequest) (pathresolver.Grant, fuse.Status) {
	asks := c.v.asks
	defer asks.waiting.Add(-1)
	if asks.wait > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, asks.wait)
		defer stop()
	}
	return c.answerOf(ctx, h, q)
}
