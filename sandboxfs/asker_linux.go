package sandboxfs

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

const (
	// askQueue is how many requests may wait to be recorded.
	askQueue = 256
	// maxWaiting bounds the opens of a view that wait for an answer.
	maxWaiting = 1024
	// maxConsulting bounds the operations that Ask is answering at once. Each
	// may hold up others in its directory.
	maxConsulting = 32
	// consultWithin is how long Ask may take to answer at once.
	consultWithin = 5 * time.Second
	// recordWithin bounds one Record, and drainWithin all of them at the end.
	recordWithin = 30 * time.Second
	drainWithin  = 5 * time.Second
)

// asks is what a view asks its Asker. An open of a file that is there waits for
// the answer. Everything else holds a lock of the kernel's, on a directory or
// on all renames: it is refused at once and recorded, and put to Ask when it is
// tried again.
type asks struct {
	asker      Asker
	wait       time.Duration
	queue      chan AskRequest
	quit, done chan struct{}
	cancel     context.CancelFunc // of what is being recorded
	waiting    atomic.Int32
	consulting atomic.Int32
	dropped    atomic.Uint64

	mu    sync.Mutex // guards known, and that what is in it is queued
	known known
}

// newAsks returns nil without an asker.
func newAsks(o *Options) *asks {
	if o.Ask == nil {
		return nil
	}
	a := &asks{
		asker: o.Ask, wait: o.AskWait, queue: make(chan AskRequest, askQueue),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	var ctx context.Context
	ctx, a.cancel = context.WithCancel(context.Background())
	go a.record(ctx)
	return a
}

// mayBeGranted says for access(2) whether op may have been granted. It is nil without
// an asker.
func (a *asks) mayBeGranted(op access.Op) pathresolver.Grant {
	if a == nil {
		return nil
	}
	return func(_ access.Op, place string) bool {
		return a.asker.Granted(access.Access{Action: op.Action(), Resource: place})
	}
}

// atOnce reports whether an operation that cannot wait is refused without
// asking, and has it recorded then.
func (a *asks) atOnce(q AskRequest) bool {
	if slices.ContainsFunc(q.Accesses, func(x access.Access) bool { return a.asker.Granted(x) }) {
		return false
	}
	key := q.key()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known.has(key) {
		return false
	}
	select {
	case a.queue <- q:
		a.known.add(key)
	default: // the next try may find room
		a.dropped.Add(1)
	}
	return true
}

// record records what was refused at once, one after the other, until close.
func (a *asks) record(ctx context.Context) {
	defer close(a.done)
	one := func(q AskRequest) {
		ctx, stop := context.WithTimeout(ctx, recordWithin)
		defer stop()
		if a.asker.Record(ctx, q) != nil {
			a.dropped.Add(1)
		}
	}
	for {
		select {
		case q := <-a.queue:
			one(q)
		case <-a.quit:
			for {
				select {
				case q := <-a.queue:
					one(q)
				default:
					return
				}
			}
		}
	}
}

// close returns when what was refused has been recorded, or not within a bound.
func (a *asks) close() {
	if a == nil {
		return
	}
	late := time.AfterFunc(drainWithin, a.cancel)
	defer late.Stop()
	close(a.quit)
	<-a.done
	a.cancel()
}

// put puts an operation to Ask. It returns when ctx is done, whatever Ask does.
func (a *asks) put(ctx context.Context, q AskRequest) error {
	answer := make(chan error, 1)
	go func() { answer <- a.asker.Ask(ctx, q) }()
	select {
	case err := <-answer:
		if err == nil || ctx.Err() == nil {
			return err
		}
	case <-ctx.Done():
		select {
		case err := <-answer: // what is granted once is used up: it counts
			if err == nil {
				return nil
			}
		default:
		}
	}
	return context.Cause(ctx)
}

// admit counts one more, up to most.
func admit(count *atomic.Int32, most int32) bool {
	if count.Add(1) > most {
		count.Add(-1)
		return false
	}
	return true
}

// maxKnown is how many operations that were refused at once are remembered.
const maxKnown = 4096

// known has the last operations that were refused at once.
type known struct {
	keys   map[uint64]bool
	oldest []uint64 // a ring of the same
	next   int
}

func (k *known) has(key uint64) bool { return k.keys[key] }

// add adds a key that is not there, and drops the oldest if there are too many.
func (k *known) add(key uint64) {
	if k.keys == nil {
		k.keys = map[uint64]bool{}
	}
	k.keys[key] = true
	if len(k.oldest) < maxKnown {
		k.oldest = append(k.oldest, key)
		return
	}
	delete(k.keys, k.oldest[k.next])
	k.oldest[k.next] = key
	k.next = (k.next + 1) % maxKnown
}

// seed is the seed of all keys.
var seed = maphash.MakeSeed()

// key is a hash of the operation. Should two operations have the same, the second
// is put to Ask without having been refused first, which does no harm.
func (q *AskRequest) key() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(q.Syscall) // never fails
	for _, a := range q.Accesses {
		_, _ = h.WriteString("\x00" + string(a.Action) + "\x00" + a.Resource)
	}
	return h.Sum64()
}
