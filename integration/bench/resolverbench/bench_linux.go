package resolverbench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
)

// Name is the half's name, as goals and flags spell it.
const Name = "resolver"

// Bench owns a tree and everything that holds it open. Close gives it back.
type Bench struct {
	w    *world
	rows []row
}

// row is one line of the table; each column has a loop of its own.
type row struct {
	name, title string
	columns     []string
	loops       map[string]loop
	n           int // repetitions in one round
}

// New makes the tree in dir, which must be empty and on the file system that
// the figures are about.
func New(dir string) (*Bench, error) {
	w, err := newWorld(dir)
	if err != nil {
		return nil, fmt.Errorf("resolver: %w", err)
	}
	return &Bench{w: w, rows: w.rows()}, nil
}

// Close gives the descriptors back. The tree belongs to the caller.
func (b *Bench) Close() { b.w.close() }

// Half is the empty table that Work fills.
func (b *Bench) Half() *figures.Half {
	return &figures.Half{
		Name: Name, Title: "Resolver: open and close of an existing file, and other verbs",
		Base: "floor", Columns: columns,
		Notes: []string{"arrangement: " + b.w.ours.Mode() + "; walkfd and walk: " + b.w.walker.Mode()},
	}
}

// Work lists the rows. scale multiplies the repetitions of a round: 1 is
// about 5 ms for each column.
func (b *Bench) Work(scale float64) []figures.Work {
	var work []figures.Work
	for _, r := range b.rows {
		n := max(2, int(float64(r.n)*scale))
		work = append(work, figures.Work{Name: r.name, Title: r.title, Columns: r.columns,
			Measure: func(_ context.Context, column string) (float64, error) { return timed(r.loops[column], n) }})
	}
	return work
}

// timed runs a loop once to warm up, and once by the clock. A collection in
// between keeps one contestant's garbage out of the next one's time.
func timed(l loop, n int) (float64, error) {
	if err := l(n/10 + 2); err != nil {
		return 0, err
	}
	runtime.GC()
	start := time.Now()
	err := l(n)
	return float64(time.Since(start).Nanoseconds()) / float64(n), err
}

// Allocations counts the heap allocations of one operation of a column.
func (b *Bench) Allocations(rowName, column string) (float64, error) {
	for _, r := range b.rows {
		l := r.loops[column]
		if r.name != rowName || l == nil {
			continue
		}
		const n = 1000
		if err := l(2); err != nil {
			return 0, err
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		err := l(n)
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs-before.Mallocs) / n, err
	}
	return 0, fmt.Errorf("resolver: no row %s for %s: %w", rowName, column, os.ErrNotExist)
}
