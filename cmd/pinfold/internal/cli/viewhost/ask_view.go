package viewhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// viewCall is what a view asks, as the broker is asked it. Program and process
// are the agent's own words: they are shown, and the answer is not bound to them.
func viewCall(q sandboxfs.AskRequest) access.Request {
	c := access.Request{Reason: fmt.Sprintf("%s by '%s', process %d", q.Syscall, q.Program, q.PID), Observed: true}
	c.Action, c.Resource, c.Also, c.MayBlock = q.Accesses[0].Action, q.Accesses[0].Resource, q.Accesses[1:], q.Wait
	return c
}

// gateAsker asks a broker in this process.
type gateAsker struct {
	b      *broker.Broker
	who    broker.Identity
	grants grants

	mu    sync.Mutex      // of what follows
	wake  <-chan struct{} // something has changed
	stale bool            // and grants may not have it yet
}

// catchUpWithin bounds what a broker that hangs costs an operation.
const catchUpWithin = time.Second

var _ sandboxfs.Asker = (*gateAsker)(nil)

// NewBroker is the asker of one agent until ctx ends.
func NewBroker(ctx context.Context, b *broker.Broker, id string) sandboxfs.Asker {
	g := &gateAsker{b: b, who: broker.AgentIdentity(id), stale: true}
	var stop func()
	g.wake, stop = b.Watch(g.who)
	context.AfterFunc(ctx, stop)
	return g
}

// Ask decides now, or waits for the manager where the view lets it.
func (g *gateAsker) Ask(ctx context.Context, q sandboxfs.AskRequest) error {
	d := g.b.Gate(g.who).Check(ctx, viewCall(q))
	if d.Allowed() {
		return nil
	}
	return errors.New(d.Reason())
}

// Record leaves a request behind, unless it is granted already.
func (g *gateAsker) Record(ctx context.Context, q sandboxfs.AskRequest) error {
	_, err := g.b.Ask(ctx, g.who, viewCall(q))
	var refused *broker.Error
	if errors.As(err, &refused) && refused.Code == permission.CodeAllowed {
		return nil
	}
	return err
}

// Granted says whether a may have been granted. It has seen every grant that was
// announced before the call, so a program that asked and was told of the answer finds
// it here.
func (g *gateAsker) Granted(a access.Access) bool {
	g.catchUp()
	return g.grants.cover(a.Resource)
}

// catchUp reads what was granted, if something has changed.
func (g *gateAsker) catchUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.wake:
		g.stale = true
	default:
	}
	if !g.stale {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), catchUpWithin)
	defer stop()
	g.stale = !g.grants.read(ctx, g.b, g.who)
}

// AsksAnything reports whether a view of this configuration ever has to ask.
func AsksAnything(cfg pathresolver.Config) bool { return len(cfg.AskRead)+len(cfg.AskWrite) > 0 }

// FUSEWait is how long an open may wait for an answer: the shortest fuse_wait that a
// layer of the policy sets, and 0 where none does.
func FUSEWait(p *permission.Policy) time.Duration {
	least := time.Duration(0)
	for _, src := range p.Sources() {
		if a := src.Document.Approvals; a != nil && a.FUSEWait > 0 && (least == 0 || time.Duration(a.FUSEWait) < least) {
			least = time.Duration(a.FUSEWait)
		}
	}
	return least
}

// covers reports whether a grant may cover an operation. It errs on the side of yes:
// the broker decides.
func covers(r broker.Request, place string) bool {
	if r.Scope == broker.Session {
		return true
	}
	all := append([]access.Access{{Action: r.Action, Resource: r.Resource}}, r.Also...)
	return slices.ContainsFunc(all, func(a access.Access) bool {
		switch {
		case a.Resource == place:
			return true
		case r.Scope != broker.Subtree:
			return false
		}
		return a.Resource == "." || strings.HasPrefix(place, a.Resource+"/")
	})
}

// grants remembers what an agent was granted, so that a view need not ask the
// broker for each name. It may lag behind: nothing is decided by it.
type grants struct {
	rows atomic.Pointer[[]broker.Request]
}

// read brings it up to date, and reports whether it could.
func (l *grants) read(ctx context.Context, b *broker.Broker, who broker.Identity) bool {
	rows, err := b.Grants(ctx, who)
	if err != nil {
		return false // what is remembered stays: it is a hint only
	}
	l.set(who.AgentID(), rows)
	return true
}

// set replaces what is remembered by those of rows that are the agent's.
func (l *grants) set(agent string, rows []broker.Request) {
	rows = slices.DeleteFunc(rows, func(r broker.Request) bool { return r.AgentID != agent })
	l.rows.Store(&rows)
}

// cover reports whether one of them may cover something at place.
func (l *grants) cover(place string) bool {
	rows := l.rows.Load()
	return rows != nil && slices.ContainsFunc(*rows, func(r broker.Request) bool { return covers(r, place) })
}
