package figures

import (
	"fmt"
	"slices"
)

// Goal is a bound on a quotient of two cells of one half, or on one cell.
type Goal struct {
	Half   string
	Row    string
	Column string
	// OverRow and OverColumn name the divisor. An empty OverRow is the same
	// row; an empty OverColumn makes the goal a time in nanoseconds.
	OverRow, OverColumn string
	Max                 float64
	// Must marks what has to hold now; the others say where a row stands on
	// its way to a later goal.
	Must bool
	// Extra goals are about columns that take part only when asked for.
	Extra bool
}

// States of a verdict.
const (
	Pass        = "pass"
	Miss        = "MISS"
	NotMeasured = "not measured"
)

// Verdict is a goal and what became of it.
type Verdict struct {
	Goal  Goal    `json:"goal"`
	Value float64 `json:"value"` // 0 when not measured
	State string  `json:"state"` // Pass, Miss or NotMeasured
}

// Judge compares the halves with one goal. ok is false when nobody asked for
// the goal's half, row or extra column. A column that was asked for and has no
// figure is "not measured".
func (g Goal) Judge(halves []*Half) (v Verdict, ok bool) {
	for _, h := range halves {
		if h.Name != g.Half || !h.hasRow(g.Row) || g.Extra && !slices.Contains(h.Columns, g.Column) {
			continue
		}
		v = Verdict{Goal: g, Value: h.Median(g.Row, g.Column), State: NotMeasured}
		if g.OverColumn != "" {
			v.Value = quotient(v.Value, h.Median(g.overRow(), g.OverColumn))
		}
		if v.Value > 0 {
			v.State = Miss
			if v.Value <= g.Max {
				v.State = Pass
			}
		}
		return v, true
	}
	return v, false
}

func (h *Half) hasRow(name string) bool {
	return slices.ContainsFunc(h.Rows, func(r *Row) bool { return r.Name == name })
}

func (g Goal) overRow() string {
	if g.OverRow == "" {
		return g.Row
	}
	return g.OverRow
}

// Text is the goal in words.
func (g Goal) Text() string {
	switch {
	case g.OverColumn == "":
		return fmt.Sprintf("%s %s ≤ %s", g.Row, g.Column, Nanoseconds(g.Max))
	case g.OverRow != "":
		return fmt.Sprintf("%s %s ≤ %.3g × %s %s", g.Row, g.Column, g.Max, g.OverRow, g.OverColumn)
	}
	return fmt.Sprintf("%s %s ≤ %.3g × %s", g.Row, g.Column, g.Max, g.OverColumn)
}

// Nanoseconds writes a duration with three digits and a unit that fits.
func Nanoseconds(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	}
	return fmt.Sprintf("%.3g s", ns/1e9)
}
