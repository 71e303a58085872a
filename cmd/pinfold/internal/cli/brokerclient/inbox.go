package brokerclient

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// lookForBrokers is how often to look for new brokers: each run may have its own.
const lookForBrokers = 2 * time.Second

// Inbox is what waits at all brokers of one person, as one. Brokers that appear are added,
// and those that end are dropped; where there is none, nothing waits. It is safe for use
// by many goroutines.
type Inbox struct {
	// Find finds the sockets of the brokers that answer; it is Sockets, or has some
	// of these.
	Find func(context.Context) []string

	mu      sync.Mutex
	clients map[string]*brokerhttp.Client // by socket
	asked   map[string]*brokerhttp.Client // where a request was found, by its id
}

// Beside is the inbox of all brokers of the operator's but the one in dir.
func Beside(dir string) *Inbox {
	return &Inbox{Find: func(ctx context.Context) []string {
		own, err := os.Stat(brokerhttp.OperatorSocket(dir))
		if err != nil {
			return nil // it is ending
		}
		return slices.DeleteFunc(Sockets(ctx), func(socket string) bool {
			info, err := os.Stat(socket)
			return err != nil || os.SameFile(info, own)
		})
	}}
}

// all are the brokers by their sockets, after a look for new ones.
func (in *Inbox) all(ctx context.Context) map[string]*brokerhttp.Client {
	sockets := in.Find(ctx)
	in.mu.Lock()
	defer in.mu.Unlock()
	all := map[string]*brokerhttp.Client{}
	for _, socket := range sockets {
		c := in.clients[socket]
		if c == nil {
			var err error
			if c, err = brokerhttp.NewClient(brokerhttp.Endpoint{Socket: socket}); err != nil {
				continue // of a socket there is nothing that can be wrong
			}
		}
		all[socket] = c
	}
	for socket, c := range in.clients {
		if all[socket] == nil {
			c.Close()
		}
	}
	in.clients = all
	return all
}

// Requests are those of all brokers, oldest first. A broker that ends meanwhile, or says
// nothing within lookTime, has none.
func (in *Inbox) Requests(ctx context.Context) ([]broker.Request, error) {
	var mu sync.Mutex // guards list, asked and failed
	var list []broker.Request
	asked := map[string]*brokerhttp.Client{}
	var failed error
	var each sync.WaitGroup
	for _, c := range in.all(ctx) {
		each.Go(func() {
			within, cancel := context.WithTimeout(ctx, lookTime)
			defer cancel()
			rows, err := c.Requests(within)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
			case errors.As(err, new(*brokerhttp.UnreachableError)), errors.Is(within.Err(), context.DeadlineExceeded):
				return
			default:
				failed = err
			}
			for _, r := range rows {
				asked[r.ID] = c
			}
			list = append(list, rows...)
		})
	}
	each.Wait()
	if failed != nil {
		return nil, failed
	}
	in.mu.Lock()
	for id, c := range in.asked { // the one on the screen may have been answered
		if asked[id] == nil && len(asked) < maxInboxed {
			asked[id] = c
		}
	}
	in.asked = asked
	in.mu.Unlock()
	slices.SortStableFunc(list, func(a, b broker.Request) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list, nil
}

// maxInboxed bounds the requests whose brokers are remembered.
const maxInboxed = 10_000

// of is the broker of a request that was listed, or is now.
func (in *Inbox) of(ctx context.Context, id string) (*brokerhttp.Client, error) {
	if c := in.knows(id); c != nil {
		return c, nil
	}
	if _, err := in.Requests(ctx); err != nil {
		return nil, err
	}
	if c := in.knows(id); c != nil {
		return c, nil
	}
	return nil, &broker.Error{Code: broker.CodeNotFound, Message: "Approval not found: " + id}
}

func (in *Inbox) knows(id string) *brokerhttp.Client {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.asked[id]
}

// Request is one of them, whole.
func (in *Inbox) Request(ctx context.Context, id string) (r broker.Request, err error) {
	c, err := in.of(ctx, id)
	if err != nil {
		return r, err
	}
	return c.Request(ctx, id)
}

// Proposal is what one of them would change.
func (in *Inbox) Proposal(ctx context.Context, id string) (p brokerhttp.Proposal, err error) {
	c, err := in.of(ctx, id)
	if err != nil {
		return p, err
	}
	return c.Proposal(ctx, id)
}

// Agent is who made a request: two brokers may have agents of one name.
func (in *Inbox) Agent(ctx context.Context, r broker.Request) (a broker.Agent, err error) {
	c, err := in.of(ctx, r.ID)
	if err != nil {
		return a, err
	}
	return c.Agent(ctx, r.AgentID)
}

// Approve says yes to one.
func (in *Inbox) Approve(ctx context.Context, id string, body brokerhttp.ApproveBody) (a brokerhttp.Resolved, err error) {
	c, err := in.of(ctx, id)
	if err != nil {
		return a, err
	}
	return c.Approve(ctx, id, body)
}

// Deny says no to one.
func (in *Inbox) Deny(ctx context.Context, id string, body brokerhttp.DenyBody) (d brokerhttp.Resolved, err error) {
	c, err := in.of(ctx, id)
	if err != nil {
		return d, err
	}
	return c.Deny(ctx, id, body)
}

// Watch calls look when something changes at any broker, also one that appears later.
// It ends with ctx alone.
func (in *Inbox) Watch(ctx context.Context, look func()) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	var mu sync.Mutex
	heard := map[string]bool{}
	look() // also where nobody serves yet
	for again := time.NewTicker(lookForBrokers); ; {
		for socket, c := range in.all(ctx) {
			mu.Lock()
			already := heard[socket]
			heard[socket] = true
			mu.Unlock()
			if already {
				continue
			}
			watching.Go(func() {
				_ = c.Watch(ctx, look) // it is tried again while the broker is there
				mu.Lock()
				delete(heard, socket)
				mu.Unlock()
				look()
			})
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
	}
}
