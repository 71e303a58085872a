package brokerbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/integration/bench/figures"
)

// Name is the half, as goals and flags spell it.
const Name = "broker"

// acrossBound is how long an answer may take from one broker to who waits on
// another, in nanoseconds.
const acrossBound = 100e6

// Bench holds the columns.
type Bench struct {
	columns map[string]*full
	notes   []string
}

// Start fills both columns, beneath dir. It takes a minute or two.
func Start(ctx context.Context, dir string, scale Scale, p figures.Progress) (b *Bench, err error) {
	b = &Bench{columns: map[string]*full{}}
	for _, column := range []string{SQLite, Postgres} {
		p.Say("%s: filling %s", Name, column)
		at := filepath.Join(dir, column)
		if err := os.Mkdir(at, 0o755); err != nil {
			return b, errors.Join(err, b.Close())
		}
		s, err := openSite(ctx, column, at)
		if err != nil {
			return b, errors.Join(fmt.Errorf("%s: %w", column, err), b.Close())
		}
		f, err := fill(ctx, s, scale, column)
		b.columns[column] = f
		b.notes = append(b.notes, f.notes...)
		if err != nil {
			return b, errors.Join(fmt.Errorf("%s: %w", column, err), b.Close())
		}
	}
	return b, nil
}

// Close ends brokers, stores and the server.
func (b *Bench) Close() (err error) {
	for _, f := range b.columns {
		err = errors.Join(err, f.end())
	}
	return err
}

// Half is the empty table that Work fills.
func (b *Bench) Half() *figures.Half {
	return &figures.Half{Name: Name, Title: "Broker: one that is full", Base: SQLite, Columns: []string{SQLite, Postgres}, Notes: b.notes}
}

// rows are what a round measures.
var rows = []struct {
	name, title string
	measure     func(f *full, ctx context.Context, n int) (float64, error)
}{
	{"send", "A message, of 64 at once", (*full).sends},
	{"receive", "A message taken and acknowledged, of 64 at once", (*full).receives},
	{"answer", "Request to answer, median", func(f *full, ctx context.Context, n int) (float64, error) { return f.answers(ctx, n, f.one, 0.5) }},
	{"answer_p99", "Request to answer, 99th percentile", func(f *full, ctx context.Context, n int) (float64, error) { return f.answers(ctx, n, f.one, 0.99) }},
	{"across", "Request to answer by another broker, median", func(f *full, ctx context.Context, n int) (float64, error) { return f.answers(ctx, n, f.two, 0.5) }},
	{"across_p99", "Request to answer by another broker, 99th percentile", func(f *full, ctx context.Context, n int) (float64, error) { return f.answers(ctx, n, f.two, 0.99) }},
	{"look", "Who an agent is, of 64 at once", (*full).looks},
}

// Rows are the names of the rows.
func Rows() []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return append(names, CheckRow)
}

// Goals are those of the broker.
func Goals() []figures.Goal {
	goals := []figures.Goal{{Half: CheckName, Row: CheckRow, Column: fmt.Sprint(mostPatterns), Max: checkBound, Must: true}}
	for _, column := range []string{SQLite, Postgres} {
		goals = append(goals, figures.Goal{Half: Name, Row: "across", Column: column, Max: acrossBound, Must: true})
	}
	return goals
}

// Work lists the rows; each round does n things.
func (b *Bench) Work(n int) (work []figures.Work) {
	for _, r := range rows {
		work = append(work, figures.Work{Name: r.name, Title: r.title, Columns: []string{SQLite, Postgres},
			Measure: func(ctx context.Context, column string) (float64, error) { return r.measure(b.columns[column], ctx, n) }})
	}
	return work
}

func (f *full) sends(ctx context.Context, n int) (float64, error) {
	from := f.numbers(n)
	return each(ctx, n, func(ctx context.Context, i int) error { return f.send(ctx, from+i) })
}

// receives takes what sends left in mailboxes, and what filled them.
func (f *full) receives(ctx context.Context, n int) (float64, error) {
	from := f.numbers(n)
	if _, err := each(ctx, n, func(ctx context.Context, i int) error { return f.send(ctx, from+i) }); err != nil {
		return 0, err
	}
	got := make([]int, n)
	per, err := each(ctx, n, func(ctx context.Context, i int) error {
		who := agent((from + i + 1) % f.scale.Agents)
		list, err := f.one.Receive(ctx, who, false)
		ids := make([]string, len(list))
		for k, m := range list {
			ids[k] = m.ID
		}
		if err == nil && len(ids) > 0 {
			got[i], err = f.one.Ack(ctx, who, ids...)
		}
		return err
	})
	taken := 0
	for _, k := range got {
		taken += k
	}
	return per * float64(n) / float64(max(taken, 1)), err
}

// answers asks one after the other, has each approved by a broker once it is
// waited for, and returns a quantile of the time that the agent is held up: by
// its question, and from the approval on.
func (f *full) answers(ctx context.Context, n int, by *broker.Broker, quantile float64) (float64, error) {
	var took []float64
	for range max(n/4, 1) {
		k := f.numbers(1)
		who, c := agent(k%f.scale.Agents), call(fmt.Sprintf("src/%d", k))
		began := time.Now()
		r, err := f.one.Ask(ctx, who, c)
		if err != nil {
			return 0, err
		}
		asked := time.Since(began)
		waited := make(chan error, 1)
		go func() {
			answer, err := f.one.Wait(ctx, who, r.ID)
			if err == nil && !answer.Approval() {
				err = fmt.Errorf("it is %s", answer.Status)
			}
			waited <- err
		}()
		if err := f.awaited(ctx, who); err != nil {
			return 0, err
		}
		began = time.Now()
		if _, err := by.Approve(ctx, broker.AgentIdentity(r.ApproverID), r.ID, broker.Answer{}); err != nil {
			return 0, err
		}
		if err := <-waited; err != nil {
			return 0, err
		}
		took = append(took, float64((asked + time.Since(began)).Nanoseconds()))
		if d := f.one.Gate(who).Check(ctx, c); !d.Allowed() { // which uses the leave up
			return 0, errors.New(d.Text())
		}
	}
	slices.Sort(took)
	return took[min(int(quantile*float64(len(took))), len(took)-1)], nil
}

// awaited returns once the agent waits: for this, and for what it has asked for
// before.
func (f *full) awaited(ctx context.Context, who broker.Identity) error {
	for {
		var waits, pending int
		if err := f.store.View(ctx, func(tx broker.ReadTx) error {
			list, err := tx.Waits(broker.WaitFilter{AgentID: who.AgentID()})
			if err == nil {
				pending, err = tx.CountRequests(broker.RequestFilter{AgentID: who.AgentID(), Statuses: []broker.Status{broker.Pending}})
			}
			waits = len(list)
			return err
		}); err != nil || waits >= pending {
			return err
		}
		select {
		case <-time.After(200 * time.Microsecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *full) looks(ctx context.Context, n int) (float64, error) {
	from := f.numbers(n)
	return each(ctx, n, func(ctx context.Context, i int) error {
		id := (from + i) % f.scale.Agents
		_, err := f.one.Agent(ctx, agent(id), agentID(id))
		return err
	})
}

// numbers are n that nothing had before.
func (f *full) numbers(n int) int {
	f.next += n
	return f.next - n
}
