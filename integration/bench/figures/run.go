package figures

import (
	"context"
	"math/rand/v2"
	"slices"
)

// Work is a row that is still to be measured.
type Work struct {
	Name, Title string
	// Columns are the contestants that can do it.
	Columns []string
	// Apart rows are no work that one does faster than another.
	Apart bool
	// Most bounds the rounds of a long row; 0 is no bound of its own.
	Most int
	// Times is how many times as many rounds a short row has; 0 is once.
	Times int
	// Measure does the work once for a column, and answers with nanoseconds
	// per operation.
	Measure func(ctx context.Context, column string) (float64, error)
}

// Run measures each row in interleaved rounds, and appends the rows to h.
// Every round has an order of its own, the same in each run, so that no column
// always comes after the same one and pays for what that left. A column that fails in a row is left out of the rest of
// that row, with its error kept. Run ends early only when ctx does.
func (h *Half) Run(ctx context.Context, rows []Work, rounds int, p Progress) error {
	for _, w := range rows {
		row := &Row{Name: w.Name, Title: w.Title, Apart: w.Apart, Cells: map[string]*Cell{}}
		h.Rows = append(h.Rows, row)
		for _, c := range w.Columns {
			row.Cells[c] = &Cell{}
		}
		rounds := rounds * max(w.Times, 1)
		if w.Most > 0 {
			rounds = min(rounds, w.Most)
		}
		order := rand.New(rand.NewPCG(1, 1))
		for round := range rounds {
			for _, c := range shuffled(w.Columns, order) {
				if err := ctx.Err(); err != nil {
					return context.Cause(ctx)
				}
				cell := row.Cells[c]
				if cell.Err != "" {
					continue
				}
				p.Step(h.Name, w.Name, c, round+1, rounds)
				ns, err := w.Measure(ctx, c)
				if err != nil {
					cell.Err = err.Error()
					continue
				}
				cell.Rounds = append(cell.Rounds, ns)
			}
		}
	}
	return nil
}

func shuffled(columns []string, order *rand.Rand) []string {
	v := slices.Clone(columns)
	order.Shuffle(len(v), func(i, k int) { v[i], v[k] = v[k], v[i] })
	return v
}
