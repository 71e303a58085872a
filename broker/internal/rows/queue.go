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

// NewQueue starts a queue over a backend that nobody else uses. While somebody
// listens to the hub, poll is called each interval between transactions; nil
// for never.
func NewQueue(backend Backend, hub *Hub, interval time.Duration, poll func()) *Queue {
	q := &Queue{backend: backend, hub: hub, jobs: make(chan *job), stop: make(chan struct{}), over: make(chan struct{})}
	go q.loop(interval, poll)
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

func (q *Queue) loop(interval time.Duration, poll func()) {
	defer close(q.over)
	var tick <-chan time.Time
	if poll != nil {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-q.stop:
			return
		case j := <-q.jobs:
			again := q.batch(j, maxBatch)
			for _, j := range again {
				q.batch(j, 1)
			}
		case <-tick:
			if q.hub.Listening() {
				poll()
			}
		}
	}
}

// batch runs the first job and those that wait, up to limit, in one
// transaction. Where the database fails at one of several, nothing has happened
// and it returns them all, to be run each alone.
func (q *Queue) batch(first *job, limit int) (again []*job) {
	// A caller's context ends its own update at most.
	ctx := context.Background()
	if err := q.backend.Begin(ctx); err != nil {
		first.done <- err
		return nil
	}
	var jobs []*job
	var results []error
	var topics []string
	changed := false
	for j := first; j != nil; j = q.next(len(jobs) < limit) {
		tx := &Tx{ctx: j.ctx, run: ctx, conn: q.backend, writable: true, save: changed}
		select {
		case j.turn <- tx:
		case <-j.gone:
			continue
		}
		err := <-j.ran
		jobs, results = append(jobs, j), append(results, err)
		switch {
		case tx.broken != nil && len(jobs) > 1:
			q.backend.Rollback(ctx)
			return jobs
		case tx.broken != nil:
			q.backend.Rollback(ctx)
			j.done <- tx.broken
			return nil
		case err == nil:
			changed = changed || tx.changed
			topics = append(topics, tx.topics...)
		case tx.changed && !changed:
			// All there is to undo is this one's.
			q.backend.Rollback(ctx)
			answer(jobs, results)
			return nil
		case tx.changed:
			if _, err := q.backend.Exec(ctx, "ROLLBACK TO SAVEPOINT "+savepoint); err != nil {
				q.backend.Rollback(ctx)
				return jobs
			}
		}
	}
	if err := q.backend.Commit(ctx, topics); err != nil {
		q.backend.Rollback(ctx)
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
