package viewhost

import (
	"context"
	"encoding/gob"
	"io"
	"sync"

	"github.com/pinfold-dev/pinfold/broker"
)

// maxPipeAsks is how many questions of one view are answered at a time: more
// than the broker lets one agent wait with.
const maxPipeAsks = 512

// pipeServer is the broker's end of an agent's ask pipe.
type pipeServer struct {
	asker *gateAsker

	mu   sync.Mutex // of what follows, and of writing
	out  *gob.Encoder
	asks map[uint64]context.CancelFunc
	all  sync.WaitGroup
}

// ServePipe answers for an agent over c until the other side has ended, or ctx
// has, whose end must close c.
func ServePipe(ctx context.Context, b *broker.Broker, id string, c io.ReadWriter) {
	ctx, stop := context.WithCancel(ctx)
	s := &pipeServer{asker: &gateAsker{b: b, who: broker.AgentIdentity(id)}, out: gob.NewEncoder(c), asks: map[uint64]context.CancelFunc{}}
	defer s.all.Wait()
	defer stop()
	s.all.Go(func() { s.tellGrants(ctx) })
	for in := gob.NewDecoder(c); ; {
		var q pipeQuestion
		if in.Decode(&q) != nil {
			return
		}
		s.take(ctx, q)
	}
}

// take begins to answer a question, or ends the wait for one.
func (s *pipeServer) take(ctx context.Context, q pipeQuestion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch over := s.asks[q.ID]; {
	case q.Cancel && over != nil:
		over()
	case q.Cancel || over != nil || len(q.Ask.Accesses) == 0:
	case len(s.asks) >= maxPipeAsks:
		_ = s.out.Encode(&pipeAnswer{ID: q.ID, Refusal: "too many operations wait for an answer already"}) // gone: so is the question
	default:
		one, over := context.WithCancel(ctx)
		s.asks[q.ID] = over
		s.all.Go(func() {
			a := s.answer(one, q)
			over()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.asks, q.ID)
			_ = s.out.Encode(&a) // likewise
		})
	}
}

func (s *pipeServer) answer(ctx context.Context, q pipeQuestion) (a pipeAnswer) {
	var err error
	a.ID = q.ID
	if q.Record {
		err = s.asker.Record(ctx, q.Ask)
	} else {
		err = s.asker.Ask(ctx, q.Ask)
		a.Allowed = err == nil
	}
	if err != nil {
		a.Refusal = err.Error()
	}
	return a
}

// tellGrants says what the agent is granted, each time that something changes.
func (s *pipeServer) tellGrants(ctx context.Context) {
	wake, stop := s.asker.b.Watch(s.asker.who)
	defer stop()
	for {
		s.asker.grants.read(ctx, s.asker.b, s.asker.who)
		if rows := s.asker.grants.rows.Load(); rows != nil {
			s.mu.Lock()
			_ = s.out.Encode(&pipeAnswer{Grants: slim(*rows)}) // likewise
			s.mu.Unlock()
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}

// slim are grants without what only a person reads.
func slim(rows []broker.Request) []broker.Request {
	slim := make([]broker.Request, len(rows))
	for i, r := range rows {
		slim[i] = broker.Request{Action: r.Action, Resource: r.Resource, Also: r.Also, Scope: r.Scope}
	}
	return slim
}
