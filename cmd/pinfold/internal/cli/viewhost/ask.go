package viewhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

const (
	// watchAgain is how soon a broker that is away is looked for again.
	watchAgain = 500 * time.Millisecond
	// lookWithin bounds what a broker that hangs costs an operation.
	lookWithin = time.Second
)

// Asker asks a broker, as the agent whose view it is.
type Asker struct {
	c       *brokerhttp.Client
	agent   string
	turn    chan struct{}      // room for each open that waits
	stop    context.CancelFunc // of watching
	watched chan struct{}      // closed once nothing is watched any more

	mu     sync.Mutex       // held while grants are looked for, so that none is replaced by older ones
	grants []broker.Request // that the agent has, so that the broker need not be asked for each name
}

var _ sandboxfs.Asker = (*Asker)(nil)

// Join asks over c, which stays the caller's, until Close. It is answered as the agent: of
// brokerhttp's NewConnClient, whose other half Server.ServeConn, Launch.Serve or
// Client.Forward has. At most waits opens wait
// for an answer at a time: the next ones are refused at once, and leave a request behind.
// interrupted is called when the agent was interrupted, and over once it is an agent no
// more. Neither may block.
func Join(c *brokerhttp.Client, agent string, waits int, interrupted, over func()) *Asker {
	j := &Asker{c: c, agent: agent, turn: make(chan struct{}, waits), watched: make(chan struct{})}
	var ctx context.Context
	ctx, j.stop = context.WithCancel(context.Background())
	go func() {
		defer close(j.watched)
		j.watch(ctx, interrupted, over)
	}()
	return j
}

// Close ends that: nothing is watched any more.
func (j *Asker) Close() {
	j.stop()
	<-j.watched
}

// watch goes on where the broker was away.
func (j *Asker) watch(ctx context.Context, interrupted, over func()) {
	var seen int64
	for {
		looking, stop := context.WithCancel(ctx)
		gone := false
		_ = j.c.Watch(looking, func() { // why it ends does not matter
			if gone = !j.look(looking, &seen, interrupted); gone {
				stop()
			}
		})
		stop()
		if gone {
			over()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchAgain):
		}
	}
}

// look says whether the agent still exists: it does not after it was fired.
func (j *Asker) look(ctx context.Context, seen *int64, interrupted func()) bool {
	a, err := j.c.Agent(ctx, j.agent)
	var refused *broker.Error
	if err != nil {
		return !errors.As(err, &refused) || refused.Code == broker.CodeUnavailable
	}
	if a.Interrupts > *seen {
		*seen = a.Interrupts
		interrupted()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.readGrants(ctx)
	return !a.State.Ended()
}

// readGrants brings grants up to date, or leaves them: they are a hint only.
func (j *Asker) readGrants(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, lookWithin)
	defer stop()
	if rows, err := j.c.Grants(ctx); err == nil {
		j.grants = slices.DeleteFunc(rows, func(r broker.Request) bool { return r.AgentID != j.agent })
	}
}

// Ask decides now, or waits for the manager where the view lets it.
func (j *Asker) Ask(ctx context.Context, q sandboxfs.AskRequest) error {
	decide := j.c.Decide
	if q.Wait {
		select {
		case j.turn <- struct{}{}:
			defer func() { <-j.turn }()
			decide = j.c.DecideWaiting
		default:
		}
	}
	d, err := decide(ctx, questionOf(q))
	switch {
	case err != nil:
		return err
	case d.Allowed():
		return nil
	}
	return errors.New(d.Reason)
}

// Record leaves a request behind, unless it is granted already.
func (j *Asker) Record(ctx context.Context, q sandboxfs.AskRequest) error {
	_, err := j.c.Ask(ctx, questionOf(q))
	var refused *broker.Error
	if errors.As(err, &refused) && refused.Code == permission.CodeAllowed {
		return nil
	}
	return err
}

// Granted says whether a may have been granted. What was granted before the call it
// knows, so a program that asked and was told of the answer finds it here; what is no
// longer granted it may still have, and Ask decides.
func (j *Asker) Granted(a access.Access) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	may := func(r broker.Request) bool { return covers(r, a.Resource) }
	if slices.ContainsFunc(j.grants, may) {
		return true
	}
	j.readGrants(context.Background())
	return slices.ContainsFunc(j.grants, may)
}

// questionOf is what a view asks, as the broker is asked it. Program and process are the
// agent's own words: they are shown, and the answer is not bound to them.
func questionOf(q sandboxfs.AskRequest) brokerhttp.DecideBody {
	return brokerhttp.DecideBody{
		Action: q.Accesses[0].Action, Resource: q.Accesses[0].Resource, Also: q.Accesses[1:],
		Reason: fmt.Sprintf("%s by '%s', process %d", q.Syscall, q.Program, q.PID), Observed: true,
	}
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
