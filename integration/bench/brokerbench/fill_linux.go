package brokerbench

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// clients is how many ask a broker at the same time.
const clients = 64

// each does n things by many clients, and returns the time for one.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) (float64, error) {
	var next atomic.Int64
	var all sync.WaitGroup
	var once sync.Once
	var failed error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	for range min(clients, n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(ctx, i); err != nil {
					once.Do(func() { failed = err; cancel() })
				}
			}
		})
	}
	all.Wait()
	if failed == nil {
		failed = context.Cause(ctx)
	}
	return float64(time.Since(began).Nanoseconds()) / float64(n), failed
}

// full is a column that is filled, with requests that wait in it.
type full struct {
	*site
	scale Scale
	notes []string
	stop  context.CancelFunc
	waits sync.WaitGroup
	next  int // numbers what the rounds ask for and send
}

// fill hires, sends and asks, and has every request waited for.
func fill(ctx context.Context, s *site, scale Scale, column string) (*full, error) {
	f := &full{site: s, scale: scale}
	before := heap()
	manager, err := compiled(managerDoc)
	if err != nil {
		return f, err
	}
	policy, err := compiled(agentDoc)
	if err != nil {
		return f, err
	}
	for n := 0; n < scale.Agents; n += team {
		if _, _, err := s.one.Hire(ctx, operator, broker.HireSpec{ID: managerID(n), Policy: manager, Cwd: "/project"}); err != nil {
			return f, err
		}
	}
	perAgent, err := each(ctx, scale.Agents, func(ctx context.Context, i int) error {
		_, _, err := s.one.Hire(ctx, operator, broker.HireSpec{ID: agentID(i), ParentID: managerID(i), Policy: policy, Cwd: "/project"})
		return err
	})
	if err != nil {
		return f, err
	}
	perMessage, err := each(ctx, scale.Messages, func(ctx context.Context, i int) error { return f.send(ctx, i) })
	if err != nil {
		return f, err
	}
	waiting, stop := context.WithCancel(ctx)
	f.stop = stop
	perAsk, err := each(ctx, scale.Pending, func(ctx context.Context, i int) error {
		r, err := s.one.Ask(ctx, agent(i), call("src/pending"))
		if err == nil {
			f.waits.Go(func() { _, _ = s.one.Wait(waiting, agent(i), r.ID) })
		}
		return err
	})
	f.notes = append(f.notes,
		fmt.Sprintf("%s: %d agents hired at %.0f/s, %d messages sent at %.0f/s, %d requests asked at %.0f/s, by %d clients",
			column, scale.Agents, 1e9/perAgent, scale.Messages, 1e9/perMessage, scale.Pending, 1e9/perAsk, clients),
		fmt.Sprintf("%s: %.1f MB of heap for all of it", column, float64(heap()-before)/(1<<20)))
	return f, err
}

// end gives up what waits.
func (f *full) end() error {
	if f.stop != nil {
		f.stop()
		f.waits.Wait()
	}
	return f.close()
}

// heap is what is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// send is message i: from one agent to the next.
func (f *full) send(ctx context.Context, i int) error {
	from, to := i%f.scale.Agents, (i+1)%f.scale.Agents
	_, err := f.one.Send(ctx, agent(from), broker.Outgoing{To: "agent:" + agentID(to) + ":main", Verb: broker.VerbContextualize, Content: "the tests are green"})
	return err
}

// call is what an agent has to ask for.
func call(place string) access.Request {
	return access.Request{Action: access.FSWrite, Resource: place, Tool: "write_file", MayBlock: true, Input: []byte(`{"path":"` + place + `"}`)}
}
