package rows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// ledger is a Backend that writes down what it is told. What the queue makes of
// a real one, storetest shows; this shows how often it is asked.
type ledger struct {
	lines   []string
	commits chan struct{} // a commit waits for it, unless it is nil
	refuses string        // an Exec with this argument fails
	full    bool          // commits fail
	alone   bool          // nobody else commits
	queries int
}

var errRefused = errors.New("refused by the database")

func (l *ledger) Begin(context.Context) (alone bool, err error) {
	l.lines = append(l.lines, "begin")
	return l.alone, nil
}

func (l *ledger) Many(ctx context.Context, all []Stmt) (changed []int64, err error) {
	for _, s := range all {
		n, err := l.Exec(ctx, s.SQL, s.Args...)
		if err != nil {
			return nil, err
		}
		changed = append(changed, n)
	}
	return changed, nil
}

func (l *ledger) Rollback(context.Context)      { l.lines = append(l.lines, "rollback") }
func (l *ledger) topics(topics []string) string { return fmt.Sprint("commit ", topics) }
func (l *ledger) count(line string) (n int) {
	for _, have := range l.lines {
		if have == line {
			n++
		}
	}
	return n
}

func (l *ledger) Commit(_ context.Context, topics []string) error {
	if l.commits != nil {
		<-l.commits
	}
	if l.full {
		return broker.ErrFull
	}
	l.lines = append(l.lines, l.topics(topics))
	return nil
}

func (l *ledger) Exec(_ context.Context, sql string, args ...any) (int64, error) {
	if len(args) > 0 && args[0] == l.refuses {
		return 0, errRefused
	}
	if len(args) > 0 {
		sql = fmt.Sprint(args[0])
	}
	l.lines = append(l.lines, sql)
	return 1, nil
}

func (l *ledger) Query(_ context.Context, _ string, each func(Scan) error, _ ...any) error {
	l.queries++
	return nil
}

// note is an update that writes its name, tells it, and returns err.
func note(name string, err error) func(broker.Tx) error {
	return func(tx broker.Tx) error {
		tx.Notify(name)
		return errors.Join(err, tx.DeleteBroker(name))
	}
}

// during runs updates while a first one is being committed, and returns their
// errors.
func during(t *testing.T, l *ledger, updates ...func(broker.Tx) error) []error {
	t.Helper()
	errs := make([]error, len(updates))
	synctest.Test(t, func(t *testing.T) {
		l.commits = make(chan struct{})
		q := NewQueue(l, &Hub{}, Look{})
		var wg sync.WaitGroup
		wg.Go(func() { _ = q.Update(t.Context(), note("first", nil)) })
		synctest.Wait()
		for i, fn := range updates {
			wg.Go(func() { errs[i] = q.Update(t.Context(), fn) })
			synctest.Wait()
		}
		close(l.commits)
		wg.Wait()
		q.Close()
	})
	return errs
}

// TestQueueShares: what waits during a commit is committed together, and what
// fails is undone alone.
func TestQueueShares(t *testing.T) {
	l := &ledger{}
	no := errors.New("no")
	errs := during(t, l, note("a", nil), note("b", no), note("c", nil), func(broker.Tx) error { return no })
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], no)
	require.NoError(t, errs[2])
	require.Same(t, no, errs[3])
	undo := "ROLLBACK TO SAVEPOINT " + savepoint
	require.Equal(t, []string{
		"begin", "first", "first", "commit [first]",
		"begin", "a", "a", "SAVEPOINT " + savepoint, "b", "b", undo, "SAVEPOINT " + savepoint, "c", "c", "commit [a c]",
	}, l.lines)
}

// TestQueueBound: no commit is of more than maxBatch.
func TestQueueBound(t *testing.T) {
	l := &ledger{}
	var updates []func(broker.Tx) error
	for i := range 2*maxBatch + 1 {
		updates = append(updates, note(fmt.Sprint(i), nil))
	}
	require.NoError(t, errors.Join(during(t, l, updates...)...))
	require.Equal(t, 1+3, l.count("begin"))
}

// TestQueueFailsAlone: where the database refuses a statement, the others of
// its batch are run again without it.
func TestQueueFailsAlone(t *testing.T) {
	l := &ledger{refuses: "b"}
	errs := during(t, l, note("a", nil), note("b", nil), note("c", nil))
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], errRefused)
	require.NoError(t, errs[2])
	require.Equal(t, 1, l.count("commit [a]"))
	require.Equal(t, 1, l.count("commit [c]"))
	require.False(t, slices.Contains(l.lines, "commit [a b]"))
}

// TestQueueCommitFails: nobody is told that it was done.
func TestQueueCommitFails(t *testing.T) {
	l := &ledger{full: true}
	for _, err := range during(t, l, note("a", nil), note("b", nil)) {
		require.ErrorIs(t, err, broker.ErrFull)
	}
	require.Equal(t, 2, l.count("rollback"))
}

// TestQueueLeaves: who gives up while it waits was not run, and holds nobody up.
func TestQueueLeaves(t *testing.T) {
	l := &ledger{}
	synctest.Test(t, func(t *testing.T) {
		l.commits = make(chan struct{})
		q := NewQueue(l, &Hub{}, Look{})
		var wg sync.WaitGroup
		wg.Go(func() { _ = q.Update(t.Context(), note("first", nil)) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() { require.ErrorIs(t, q.Update(ctx, note("left", nil)), context.Canceled) })
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(l.commits)
		require.NoError(t, q.Update(t.Context(), note("last", nil)))
		wg.Wait()
		q.Close()
		require.ErrorIs(t, q.Update(t.Context(), note("late", nil)), ErrClosed)
	})
	require.NotContains(t, l.lines, "left")
	require.NotContains(t, l.lines, "late")
	require.Contains(t, l.lines, "last")
}

// TestQueuePolls between updates, while somebody listens.
func TestQueuePolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		polls := 0
		q := NewQueue(&ledger{}, &h, Look{Every: time.Second, Do: func() bool { polls++; return false }})
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		require.Zero(t, polls)
		ctx, cancel := context.WithCancel(t.Context())
		h.Listen(ctx)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, 10, polls)
		cancel()
		q.Close()
	})
}

// TestChunks: every id is named, in lists of few lengths.
func TestChunks(t *testing.T) {
	for _, n := range []int{0, 1, 2, chunk - 1, chunk, chunk + 1, 3*chunk + 5} {
		var ids, got []string
		for i := range n {
			ids = append(ids, fmt.Sprint(i))
		}
		require.NoError(t, chunks(ids, func(part []string) error {
			require.Contains(t, []int{1, chunk}, len(part))
			got = append(got, slices.Compact(part)...)
			return nil
		}))
		require.Equal(t, ids, got)
	}
}

// TestQueueWritesOnce: what updates only count is read once as long as nobody else writes,
// and written once for all that share a commit: of one update each, it were four statements
// for each.
func TestQueueWritesOnce(t *testing.T) {
	l := &ledger{alone: true}
	var updates []func(broker.Tx) error
	for range 10 {
		updates = append(updates, func(tx broker.Tx) error {
			u, err1 := tx.Usage("agent", broker.UsageRows)
			u.Bytes++
			at, err2 := tx.Rate("pair")
			return errors.Join(err1, err2, tx.PutUsage(u), tx.SetRate("pair", at.Add(time.Second)))
		})
	}
	require.NoError(t, errors.Join(during(t, l, updates...)...))
	require.Equal(t, []string{"begin", "first", "first", "commit [first]", "begin", "pair", "agent", "commit []"}, l.lines)
	require.Equal(t, 2, l.queries)

	others := &ledger{}
	require.NoError(t, errors.Join(during(t, others, updates[0])...))
	require.NoError(t, errors.Join(during(t, others, updates[0])...))
	require.Equal(t, 4, others.queries, "where others may have written all is read again")
}
