package figures

import "slices"

// Cell is what one contestant did in one row.
type Cell struct {
	// Rounds are nanoseconds per operation, one for each round.
	Rounds []float64 `json:"rounds"`
	// Err says why there are no more rounds; "" when all went well.
	Err string `json:"error,omitempty"`
}

// Median is the middle of the rounds in nanoseconds per operation, or 0 when
// there is none. A cell that failed in any round has no figure.
func (c *Cell) Median() float64 {
	if c == nil || c.Err != "" {
		return 0
	}
	return Median(c.Rounds)
}

// Median is the middle of v, the mean of the two middles of an even number,
// and 0 of nothing. v stays as it is.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Clone(v)
	slices.Sort(s)
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return (s[m-1] + s[m]) / 2
}

// Row is one piece of work.
type Row struct {
	Name  string           `json:"name"`  // a word, for --rows and for goals
	Title string           `json:"title"` // for people
	Cells map[string]*Cell `json:"cells"` // by column
	// Apart rows are no work that one does faster than another.
	Apart bool `json:"apart,omitempty"`
}

// Half is one table of figures.
type Half struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Base    string   `json:"base"` // the column that ratios are taken over
	Columns []string `json:"columns"`
	Rows    []*Row   `json:"rows"`
	Notes   []string `json:"notes,omitempty"` // how the contestants were arranged
}

// Median is the figure of one cell in nanoseconds per operation; 0 when it
// was not measured.
func (h *Half) Median(row, column string) float64 {
	for _, r := range h.Rows {
		if r.Name == row {
			return r.Cells[column].Median()
		}
	}
	return 0
}

// Ratio is one cell over the base column of its row; 0 when either is missing.
func (h *Half) Ratio(row, column string) float64 {
	return quotient(h.Median(row, column), h.Median(row, h.Base))
}

func quotient(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a / b
}
