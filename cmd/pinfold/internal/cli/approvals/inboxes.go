package approvals

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/tuiinbox"
)

// lookForBrokers is how often to look for new brokers: each run may have its own.
const lookForBrokers = 2 * time.Second

// inboxes show what waits at all brokers of one person as one inbox. Brokers that
// appear are added, and those that end are dropped.
type inboxes struct {
	find func(context.Context) []string // the sockets of the brokers that answer

	mu      sync.Mutex
	clients map[string]*brokerhttp.Client // by socket
	asked   map[string]*brokerhttp.Client // where a request was found, by its id
}

var _ tuiinbox.Broker = (*inboxes)(nil)

var errNoBroker = errors.New("no broker serves")

// all are the brokers by their sockets, after a look for new ones.
func (in *inboxes) all(ctx context.Context) map[string]*brokerhttp.Client {
	sockets := in.find(ctx)
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

// Requests are those of all brokers, oldest first. A broker that ends meanwhile has
// none.
func (in *inboxes) Requests(ctx context.Context) ([]broker.Request, error) {
	var list []broker.Request
	asked := map[string]*brokerhttp.Client{}
	last := errNoBroker
	for _, c := range in.all(ctx) {
		rows, err := c.Requests(ctx)
		switch {
		case errors.As(err, new(*brokerhttp.UnreachableError)):
			continue
		case err != nil:
			return nil, err
		}
		last = nil
		for _, r := range rows {
			asked[r.ID] = c
		}
		list = append(list, rows...)
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
	return list, last
}

// maxInboxed bounds the requests whose brokers are remembered.
const maxInboxed = 10_000

// of is the broker of a request that was listed.
func (in *inboxes) of(id string) (*brokerhttp.Client, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if c := in.asked[id]; c != nil {
		return c, nil
	}
	return nil, errors.New("nobody knows the request " + id)
}

// Request is one of them, whole.
func (in *inboxes) Request(ctx context.Context, id string) (r broker.Request, err error) {
	c, err := in.of(id)
	if err != nil {
		return r, err
	}
	return c.Request(ctx, id)
}

// Proposal is what one of them would change.
func (in *inboxes) Proposal(ctx context.Context, id string) (p brokerhttp.Proposal, err error) {
	c, err := in.of(id)
	if err != nil {
		return p, err
	}
	return c.Proposal(ctx, id)
}

// Agent is who made a request: two brokers may have agents of one name.
func (in *inboxes) Agent(ctx context.Context, r broker.Request) (a broker.Agent, err error) {
	c, err := in.of(r.ID)
	if err != nil {
		return a, err
	}
	return c.Agent(ctx, r.AgentID)
}

// Approve says yes to one.
func (in *inboxes) Approve(ctx context.Context, id string, body brokerhttp.ApproveBody) (a brokerhttp.Resolved, err error) {
	c, err := in.of(id)
	if err != nil {
		return a, err
	}
	return c.Approve(ctx, id, body)
}

// Deny says no to one.
func (in *inboxes) Deny(ctx context.Context, id string, body brokerhttp.DenyBody) (d brokerhttp.Resolved, err error) {
	c, err := in.of(id)
	if err != nil {
		return d, err
	}
	return c.Deny(ctx, id, body)
}

// Watch calls look when something changes at any broker, also one that appears later.
// It ends with ctx, or when there is no broker left.
func (in *inboxes) Watch(ctx context.Context, look func()) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	var mu sync.Mutex
	heard := map[string]bool{}
	for again := time.NewTicker(lookForBrokers); ; {
		all := in.all(ctx)
		if len(all) == 0 {
			again.Stop()
			return errNoBroker
		}
		for socket, c := range all {
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

// OneInbox is that of the broker that was named.
type OneInbox struct{ *brokerhttp.Client }

var _ tuiinbox.Broker = OneInbox{}

// Agent is who made a request.
func (o OneInbox) Agent(ctx context.Context, r broker.Request) (broker.Agent, error) {
	return o.Client.Agent(ctx, r.AgentID)
}
