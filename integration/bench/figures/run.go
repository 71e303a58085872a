package figures

import (
	"context"
	"slices"
)

// Work is a row that is still to be measured.
type Work struct {
	Name, Title string
	// Columns are the contestants that can do it.
	Columns []string
	// Most bounds the rounds of a long row; 0 is no bound of its own.
	Most int
	// Measure does the work once for a column, and answers with nanoseconds
	// per operation.
	Measure func(ctx context.Context, column string) (float64, error)
}

// Run measures each row in interleaved rounds, and appends the rows to h.
// Every round begins with another column, so that none always follows the
// same neighbour. A column that fails in a row is left out of the rest of
// that row, with its error kept. Run ends early only when ctx does.
func (h *Half) Run(ctx context.Context, rows []Work, rounds int, p Progress) error {
	for _, w := range rows {
		row := &Row{Name: w.Name, Title: w.Title, Cells: map[string]*Cell{}}
		h.Rows = append(h.Rows, row)
		for _, c := range w.Columns {
			row.Cells[c] = &Cell{}
		}
		rounds := rounds
		if w.Most > 0 {
			rounds = min(rounds, w.Most)
		}
		for round := range rounds {
			for _, c := range rotate(w.Columns, round) {
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

func rotate(v []string, by int) []string {
	if len(v) == 0 {
		return nil
	}
	by %= len(v)
	return slices.Concat(v[by:], v[:by])
}
