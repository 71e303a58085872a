package rows

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// maxBatch is how many updates share one commit. PostgreSQL keeps up to 64
// subtransactions at hand.
const maxBatch = 64

// ErrClosed says that the store was closed. It is fs.ErrClosed under errors.Is.
var ErrClosed error = closedError{}

type closedError struct{}

func (closedError) Error() string        { return "the broker's store is closed" }
func (closedError) Is(target error) bool { return target == fs.ErrClosed }

// Queue makes updates one after the other. Those that wait while one is being
// flushed to the disk are committed together, each undone by itself where its
// function fails: its callers see transactions of their own, but pay for few.
type Queue struct {
	backend Backend
	known   *layer // of the database, as long as nobody else writes to it; the loop's
	hub     *Hub
	jobs    chan *job
	stop    chan struct{} // Close was called
	over    chan struct{} // the loop has ended
}

// job is one call of Update. Its function runs in the caller's goroutine, when
// the loop gives it the turn.
type job struct {
	ctx  context.Context
	turn chan *Tx
	ran  chan error    // the function's error, 1 a turn
	gone chan struct{} // closed when the caller has left
	done chan error    // the answer
}

// errAborted stands for the error of a function that panicked.
var errAborted = errors.New("the function of an update did not return")

// Look is how a queue finds out, between transactions and while somebody listens to its
// hub, whether other processes have changed something: it calls Do each time that Now says
// so, and in every interval. The zero Look does nothing.
type Look struct {
	Every time.Duration
	Now   <-chan struct{} // nil for never
	Do    func() bool
}

type lookingKey struct{}

// Looking has a store that is opened with this context look for changes from time to time
// alone. Tests in which time does not pass by itself can have no goroutine that waits for
// the system.
func Looking(ctx context.Context) context.Context {
	return context.WithValue(ctx, lookingKey{}, true)
}

// OnlyLooks reports whether Looking was asked for.
func OnlyLooks(ctx context.Context) bool { return ctx.Value(lookingKey{}) != nil }

// NewQueue starts a queue over a backend that nobody else uses.
func NewQueue(backend Backend, hub *Hub, look Look) *Queue {
	q := &Queue{backend: backend, known: newLayer(), hub: hub, jobs: make(chan *job), stop: make(chan struct{}), over: make(chan struct{})}
	go q.loop(look)
	return q
}

// Update is broker.Store's.
func (q *Queue) Update(ctx context.Context, fn func(broker.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{ctx: ctx, turn: make(chan *Tx), ran: make(chan error, 1), gone: make(chan struct{}), done: make(chan error, 1)}
	defer close(j.gone)
	select {
	case q.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-q.stop:
		return ErrClosed
	}
	// Before its first turn nothing was done and the caller may leave;
	// afterwards the answer is awaited, so that it is the true one.
	leave := ctx.Done()
	for {
		select {
		case tx := <-j.turn:
			leave = nil
			j.run(tx, fn)
		case err := <-j.done:
			return err
		case <-leave:
			return ctx.Err()
		}
	}
}

// run calls fn and tells the loop, also when fn panics or ends the goroutine.
func (j *job) run(tx *Tx, fn func(broker.Tx) error) {
	err := errAborted
	defer func() { j.ran <- err }()
	err = fn(tx)
}

// Close ends the queue once the updates that run are answered. Those that wait
// are ErrClosed. It is called once.
func (q *Queue) Close() {
	close(q.stop)
	<-q.over
}

func (q *Queue) loop(look Look) {
	defer close(q.over)
	var tick <-chan time.Time
	if look.Do != nil {
		ticker := time.NewTicker(look.Every)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-q.stop:
			return
		case j := <-q.jobs:
			again := q.batch(j, maxBatch, false)
			for _, j := range again {
				q.batch(j, 1, true)
			}
		case <-tick:
			q.look(look)
		case <-look.Now:
			q.look(look)
		}
	}
}

func (q *Queue) look(look Look) {
	if q.hub.Listening() && look.Do() {
		q.known = newLayer()
	}
}

// batch runs the first job and those that wait, up to limit, in one
// transaction. Where the database fails at one of several, or one needs what is still to
// be written, nothing has happened and it returns them all, to be run each alone:
// through, so that each change is written at once.
func (q *Queue) batch(first *job, limit int, through bool) (again []*job) {
	// A caller's context ends its own update at most.
	ctx := context.Background()
	alone, err := q.backend.Begin(ctx)
	if err != nil {
		q.known = newLayer()
		first.done <- err
		return nil
	}
	if !alone || q.known.size() > maxKnown {
		q.known = newLayer()
	}
	// undo ends the transaction: what is known of it is not true then.
	undo := func() {
		q.backend.Rollback(ctx)
		q.known = newLayer()
	}
	var jobs []*job
	var results []error
	var topics []string
	changed := false
	for j := first; j != nil; j = q.next(len(jobs) < limit) {
		tx := &Tx{ctx: j.ctx, run: ctx, conn: q.backend, backend: q.backend, batch: q.known, own: newLayer(), through: through, save: changed}
		select {
		case j.turn <- tx:
		case <-j.gone:
			continue
		}
		err := <-j.ran
		jobs, results = append(jobs, j), append(results, err)
		switch {
		case tx.broken != nil && (len(jobs) > 1 || errors.Is(tx.broken, errSettle) || errors.Is(tx.broken, errTaken)):
			undo()
			return jobs
		case tx.broken != nil:
			undo()
			j.done <- tx.broken
			return nil
		case err == nil:
			changed = changed || tx.changed || tx.own.dirty()
			topics = append(topics, tx.topics...)
			q.known.join(tx.own)
		case tx.changed && !changed:
			// All there is to undo is this one's.
			undo()
			answer(jobs, results)
			return nil
		case tx.changed:
			if _, err := q.backend.Exec(ctx, "ROLLBACK TO SAVEPOINT "+savepoint); err != nil {
				undo()
				return jobs
			}
		}
	}
	err = q.known.write(func(all []Stmt) ([]int64, error) { return q.backend.Many(ctx, all) })
	if err != nil && (len(jobs) > 1 || errors.Is(err, errTaken)) {
		undo()
		return jobs
	}
	if err == nil {
		err = q.backend.Commit(ctx, topics)
	}
	if err != nil {
		undo()
		for i := range results {
			results[i] = err
		}
	} else {
		q.hub.Tell(topics...)
	}
	answer(jobs, results)
	return nil
}

// next is a job that waits, if there is one and it may join.
func (q *Queue) next(more bool) *job {
	if !more {
		return nil
	}
	select {
	case j := <-q.jobs:
		return j
	default:
		return nil
	}
}

func answer(jobs []*job, results []error) {
	for i, j := range jobs {
		j.done <- results[i]
	}
}
