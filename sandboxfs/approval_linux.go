package sandboxfs

import (
	"context"
	"io/fs"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// askFirst is the error of an operation that a rule says may be asked for. The
// operation has changed nothing, and is done again with what Ask grants.
type askFirst struct{ AskRequest }

func (*askFirst) Error() string { return "has to be asked for" }

// asking does an operation. If it has to be asked for first, it is done again from the
// beginning with what was granted.
func (c *connection) asking(h *fuse.InHeader, do func(grant pathresolver.Grant) error) fuse.Status {
	return status(c.again(h, do(nil), do))
}

// again is asking for an operation that has been tried without a grant and returned
// this error.
func (c *connection) again(h *fuse.InHeader, err error, do func(grant pathresolver.Grant) error) error {
	q, ok := err.(*askFirst)
	if !ok {
		return err
	}
	grant, err := c.consult(h, q)
	if err != nil {
		return err
	}
	return do(grant)
}

// ask is refuse for what may be granted: it returns askFirst where there is somebody
// to ask. grant is what was granted already. Where a grant would not help, the
// operation is refused now.
func (c *connection) ask(h *fuse.InHeader, call string, d *pathresolver.DeniedError, grant pathresolver.Grant, o operation) error {
	asks := c.v.asks
	if asks == nil || grant != nil || d.Rule != pathresolver.RuleAsk {
		return c.refuse(h, call, d)
	}
	q := AskRequest{Accesses: o.accesses(c.rules()), Syscall: call, PID: h.Pid, UID: h.Uid, Program: programOf(h.Pid)}
	if final := o.decide(c.rules(), resolved.GrantFor(q.Accesses...)); final != nil {
		return c.refuse(h, call, final)
	}
	q.Wait = call == "open" && asks.wait != 0
	if !q.Wait && asks.atOnce(q) {
		return c.refuse(h, call, d)
	}
	return &askFirst{q}
}

// futile returns what keeps a file from being opened even with a grant. Nobody is
// asked then, and no grant is used up.
func (c *connection) futile(h *fuse.InHeader, call string, n *node, o operation) error {
	var sx unix.Statx_t
	fd, _, err := c.open(n, unix.O_PATH, &sx)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	mask := uint32(0)
	if o.reads || o.op == access.OpRead {
		mask |= unix.R_OK
	}
	if o.op == access.OpWrite {
		mask |= unix.W_OK
		if sx.Nlink > 1 {
			if _, d := c.rules().CheckLinks(o.place, fileID(&sx)); d != nil {
				return c.refuse(h, call, d)
			}
		}
	}
	return unix.Faccessat2(fd, "", mask, unix.AT_EMPTY_PATH|unix.AT_EACCESS)
}

// consult asks about an operation that cannot wait for a person. No lock is held.
func (c *connection) consult(h *fuse.InHeader, q *askFirst) (pathresolver.Grant, error) {
	asks := c.v.asks
	if !admit(&asks.consulting, maxConsulting) {
		return nil, c.refuseAsked(h, q, "too many operations are asked for at once")
	}
	defer asks.consulting.Add(-1)
	c.slow(h)
	ctx, end := c.conn.Context(h)
	defer end()
	return c.granted(ctx, h, q, consultWithin)
}

// openLater has the open of a file wait until somebody answers. Then it is done from
// the beginning: what was found before the wait no longer counts.
func (c *connection) openLater(in *fuse.OpenIn, q *askFirst) fuseconn.Reply {
	asks := c.v.asks
	if !admit(&asks.waiting, maxWaiting) {
		return fuseconn.Reply{Status: status(c.refuseAsked(&in.InHeader, q, "too many wait for an answer"))}
	}
	again := *in
	return fuseconn.Reply{Later: func(ctx context.Context) (r fuseconn.Reply) {
		grant, err := func() (pathresolver.Grant, error) {
			defer asks.waiting.Add(-1)
			return c.granted(ctx, &again.InHeader, q, asks.wait)
		}()
		if err == nil {
			c.v.within(func() { err = c.open1(&again, &r.Open, grant) })
		}
		r.Status = status(err)
		return r
	}}
}

// granted puts a question to Ask and returns what it grants, or the refusal. It waits
// no longer than within; a negative time is no bound.
func (c *connection) granted(ctx context.Context, h *fuse.InHeader, q *askFirst, within time.Duration) (pathresolver.Grant, error) {
	if within > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, within)
		defer stop()
	}
	switch err := c.v.asks.put(ctx, q.AskRequest); err {
	case nil:
		return resolved.GrantFor(q.Accesses...), nil
	case fuseconn.ErrInterrupted:
		return nil, unix.EINTR
	case context.DeadlineExceeded:
		return nil, c.refuseAsked(h, q, "nobody has answered yet")
	default:
		return nil, c.refuseAsked(h, q, err.Error())
	}
}

// refuseAsked reports what Ask did not grant.
func (c *connection) refuseAsked(h *fuse.InHeader, q *askFirst, answer string) error {
	about := q.Accesses[0]
	op, _ := about.Action.Op()
	refused := errno(pathresolver.RuleAsk)
	c.v.refusals.add(Refusal{
		Time: time.Now(), PID: h.Pid, UID: h.Uid, Op: op, Place: about.Resource,
		Rule: pathresolver.RuleAsk, Errno: refused, Syscall: q.Syscall, Answer: answer,
	})
	return refused
}

// operation is an operation as the rules are asked about it.
type operation struct {
	op       access.Op
	place    string
	kind     fs.FileMode // of what OpCreate makes
	to       string      // of OpRename and OpLink
	exchange bool
	reads    bool // content too, besides what op says
}

// decide asks the rules about all of it.
func (o operation) decide(r resolver, grant pathresolver.Grant) *pathresolver.DeniedError {
	switch o.op {
	case access.OpRename:
		return r.DecideRenameGranted(grant, o.place, o.to, o.exchange)
	case access.OpLink:
		return r.DecideLinkGranted(grant, o.place, o.to)
	}
	if d := r.DecideGranted(grant, o.op, o.place, o.kind); d != nil || !o.reads {
		return d
	}
	return r.DecideGranted(grant, access.OpRead, o.place, 0)
}

// accesses are what has to be granted: what a move or another name takes out
// of reach of a rule about reading can be read from then on.
func (o operation) accesses(r resolver) []access.Access {
	is := func(op access.Op, place string) access.Access {
		return access.Access{Action: op.Action(), Resource: place}
	}
	var all []access.Access
	switch o.op {
	case access.OpRename:
		all = append(all, is(o.op, o.place), is(o.op, o.to))
		if o.exchange && r.Verdict(o.to).AskRead {
			all = append(all, is(access.OpRead, o.to))
		}
	case access.OpLink:
		all = append(all, is(access.OpRename, o.place), is(access.OpWrite, o.place), is(access.OpCreate, o.to))
	default:
		all = append(all, is(o.op, o.place))
	}
	if o.reads || o.to != "" && r.Verdict(o.place).AskRead {
		all = append(all, is(access.OpRead, o.place))
	}
	return all
}
