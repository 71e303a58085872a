package figures

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAgainstMarksWhatIsBehindAndWhatIsMissed(t *testing.T) {
	cells := func(native, ours, theirs float64) map[string]*Cell {
		return map[string]*Cell{"native": {Rounds: []float64{native}}, "ours": {Rounds: []float64{ours}},
			"theirs": {Rounds: []float64{theirs}}, "limit": {Rounds: []float64{native}}}
	}
	h := Half{Name: "h", Title: "T", Base: "native", Columns: []string{"native", "ours", "theirs", "limit"}, Rows: []*Row{
		{Name: "good", Title: "good", Cells: cells(100, 150, 300)},
		{Name: "bad", Title: "bad", Cells: cells(100, 400, 200)},
		{Name: "bound", Title: "bound", Cells: cells(100, 900, 100), Apart: true},
	}}
	var verdicts []Verdict
	for _, g := range []Goal{{Row: "good", Max: 2}, {Row: "bad", Max: 3}} {
		g.Half, g.Column, g.OverColumn = "h", "ours", "native"
		v, ok := g.Judge([]*Half{&h})
		require.True(t, ok)
		verdicts = append(verdicts, v)
	}
	var b strings.Builder
	h.PrintAgainst(&b, "ours", []string{"theirs"}, verdicts)
	require.Regexp(t, `good +1.50 +2 +0.50 +1.50\n`, b.String())
	require.Regexp(t, `bad +4.00 +3! +2.00! +4.00\n`, b.String(), "a limit that is not reached is not being behind")
	require.NotContains(t, b.String(), "bound")
	require.Contains(t, b.String(), "h: ours ahead of theirs, or level, on 1 of 2 rows; behind on bad (2.00)\n")
}
