package sandboxfs

import (
	"context"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

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
