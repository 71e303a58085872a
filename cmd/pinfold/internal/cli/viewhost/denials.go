package viewhost

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

const (
	// maxUntold is how many different refusals wait to be told; what comes beyond
	// them is counted.
	maxUntold = 500
	// tellEvery is how long refusals are gathered, so that they are told together.
	tellEvery = time.Second
	// tellWithin bounds one telling, and how long the last one is tried.
	tellWithin = 5 * time.Second
)

// Denials tells a broker what an agent's view refuses, in batches: a refusal waits for
// nobody. The same refusal again, while it waits to be told, is told with its number.
type Denials struct {
	c    *brokerhttp.Client
	some chan struct{} // there is something to tell
	quit chan struct{}
	done chan struct{} // closed once the last was told

	mu      sync.Mutex // guards what follows; nothing is called while it is held
	waiting []broker.Denial
	at      map[denialKind]int // of each in waiting
	leftOut int64              // that cannot be told any more
}

// denialKind is what makes two refusals the same.
type denialKind struct {
	op, place, rule, origin, syscall, program string
}

// NewDenials tells over c, which stays the caller's, until Close.
func NewDenials(c *brokerhttp.Client) *Denials {
	d := &Denials{c: c, some: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), at: map[denialKind]int{}}
	go d.run()
	return d
}

// Add notes a refusal. What a broker was asked about has a record there already.
func (d *Denials) Add(r sandboxfs.Refusal) {
	if r.Answer != "" {
		return
	}
	rule := r.Origin
	if rule == "" {
		rule = r.Pattern
	}
	kind := denialKind{string(r.Op), r.Place, string(r.Rule), rule, r.Syscall, r.Program}
	d.mu.Lock()
	defer d.mu.Unlock()
	if i, waits := d.at[kind]; waits {
		d.waiting[i].Times++
		return
	}
	if len(d.waiting) == maxUntold {
		d.leftOut++
		return
	}
	d.at[kind] = len(d.waiting)
	d.waiting = append(d.waiting, broker.Denial{
		Action: r.Op.Action(), Resource: pathresolver.EscapePath(r.Place), Code: r.Rule, Rule: pathresolver.EscapePath(rule), Times: 1,
		Reason: fmt.Sprintf("%s by '%s', process %d", r.Syscall, pathresolver.EscapePath(r.Program), r.PID),
	})
	d.wake()
}

// run tells what there is, and rests after it.
func (d *Denials) run() {
	defer close(d.done)
	for {
		select {
		case <-d.some:
		case <-d.quit:
			return
		}
		_ = d.tell(context.Background(), 0) // what was not told waits for the next
		select {
		case <-time.After(tellEvery):
		case <-d.quit:
			return
		}
	}
}

// Close tells the last, with how many refusals were lost on the way here and how many
// attempts nobody could judge. The error says how many the broker has not heard of.
func (d *Denials) Close(lost, unjudged uint64) error {
	close(d.quit)
	<-d.done
	ctx, stop := context.WithTimeout(context.Background(), tellWithin)
	defer stop()
	d.mu.Lock()
	d.leftOut += int64(lost)
	d.mu.Unlock()
	for {
		err := d.tell(ctx, int64(unjudged))
		if err == nil {
			return nil
		}
		var refused *broker.Error
		if errors.As(err, &refused) && refused.Code == broker.CodeRateLimited {
			select {
			case <-time.After(tellEvery / 10):
				continue
			case <-ctx.Done():
			}
		}
		n := d.untold()
		return fmt.Errorf("the broker was not told of %d refusals, and the audit lacks them: %w", n, err)
	}
}

// untold is how many refusals are not told.
func (d *Denials) untold() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.leftOut
	for _, w := range d.waiting {
		n += int64(w.Times)
	}
	return n
}

// tell tells what waits, if anything does. What a broker that is away has not heard waits
// on; what one does not take is counted.
func (d *Denials) tell(ctx context.Context, unjudged int64) error {
	ctx, stop := context.WithTimeout(ctx, tellWithin)
	defer stop()
	d.mu.Lock()
	told := broker.Denials{Items: d.waiting, LeftOut: d.leftOut, Unjudged: unjudged}
	d.waiting, d.at, d.leftOut = nil, map[denialKind]int{}, 0
	d.mu.Unlock()
	if len(told.Items) == 0 && told.LeftOut == 0 && told.Unjudged == 0 {
		return nil
	}
	_, err := d.c.RecordDenials(ctx, told)
	if err == nil {
		return nil
	}
	var refused *broker.Error
	later := !errors.As(err, &refused) || refused.Code == broker.CodeRateLimited || refused.Code == broker.CodeUnavailable
	d.mu.Lock()
	defer d.mu.Unlock()
	newer := d.waiting
	d.waiting, d.leftOut = nil, d.leftOut+told.LeftOut
	if later {
		d.waiting = told.Items
	} else {
		newer = append(told.Items, newer...)
	}
	for _, one := range newer {
		if later && len(d.waiting) < maxUntold {
			d.waiting = append(d.waiting, one)
		} else {
			d.leftOut += int64(one.Times)
		}
	}
	clear(d.at) // the same again is told again
	d.wake()
	return err
}

// wake has run tell what there is.
func (d *Denials) wake() {
	select {
	case d.some <- struct{}{}:
	default:
	}
}
