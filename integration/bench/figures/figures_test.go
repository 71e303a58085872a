package figures

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedianIsTheMiddleAndLeavesItsInput(t *testing.T) {
	in := []float64{9, 1, 5}
	require.Equal(t, 5.0, Median(in))
	require.Equal(t, []float64{9, 1, 5}, in)
	require.Equal(t, 3.0, Median([]float64{5, 1}))
	require.Zero(t, Median(nil))
}

func TestRoundsAreInterleavedAndNeighboursChange(t *testing.T) {
	var order []string
	h := Half{Name: "h", Base: "a", Columns: []string{"a", "b", "c"}}
	w := Work{Name: "r", Columns: h.Columns, Measure: func(_ context.Context, c string) (float64, error) {
		order = append(order, c)
		return 1, nil
	}}
	require.NoError(t, h.Run(t.Context(), []Work{w}, 20, Progress{}))
	before := map[string]bool{}
	for i := 0; i < len(order); i += 3 {
		require.ElementsMatch(t, h.Columns, order[i:i+3], "each column once a round")
	}
	for i, c := range order[1:] {
		before[order[i]+c] = true
	}
	for _, pair := range []string{"ab", "ba", "ac", "ca", "bc", "cb"} {
		require.True(t, before[pair], "%s: %v", pair, order)
	}
}

func TestAFailedCellHasNoFigureAndTheOthersGoOn(t *testing.T) {
	h := Half{Name: "h", Base: "a", Columns: []string{"a", "b"}}
	w := Work{Name: "r", Columns: h.Columns, Measure: func(_ context.Context, c string) (float64, error) {
		if c == "b" {
			return 0, errors.New("broken")
		}
		return 10, nil
	}}
	require.NoError(t, h.Run(t.Context(), []Work{w}, 2, Progress{}))
	require.Equal(t, 10.0, h.Median("r", "a"))
	require.Zero(t, h.Ratio("r", "b"))

	v, ok := Goal{Half: "h", Row: "r", Column: "b", OverColumn: "a", Max: 9}.Judge([]*Half{&h})
	require.True(t, ok)
	require.Equal(t, "not measured", v.State, "a failure must never read as a pass")
}

func TestGoalsPassAndMiss(t *testing.T) {
	h := Half{Name: "h", Base: "a", Rows: []*Row{
		{Name: "r", Cells: map[string]*Cell{"a": {Rounds: []float64{100}}, "b": {Rounds: []float64{150}}}},
		{Name: "s", Cells: map[string]*Cell{"a": {Rounds: []float64{200}}}},
	}}
	for _, c := range []struct {
		goal  Goal
		value float64
		state string
	}{
		{Goal{Row: "r", Column: "b", OverColumn: "a", Max: 1.5}, 1.5, "pass"},
		{Goal{Row: "r", Column: "b", OverColumn: "a", Max: 1.4}, 1.5, "MISS"},
		{Goal{Row: "s", Column: "a", OverRow: "r", OverColumn: "a", Max: 1}, 2, "MISS"},
		{Goal{Row: "r", Column: "b", Max: 151}, 150, "pass"},
	} {
		c.goal.Half = "h"
		v, ok := c.goal.Judge([]*Half{&h})
		require.True(t, ok)
		require.Equal(t, c.value, v.Value)
		require.Equal(t, c.state, v.State)
	}
}

func TestRunStopsWhenTheContextDoes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := Half{Columns: []string{"a"}}
	err := h.Run(ctx, []Work{{Name: "r", Columns: h.Columns}}, 1, Progress{})
	require.ErrorIs(t, err, context.Canceled)
}

// Short rows have more rounds, long ones fewer.
func TestRounds(t *testing.T) {
	h := Half{Columns: []string{"a"}}
	once := func(context.Context, string) (float64, error) { return 1, nil }
	err := h.Run(t.Context(), []Work{
		{Name: "plain", Columns: h.Columns, Measure: once},
		{Name: "short", Columns: h.Columns, Measure: once, Times: 4},
		{Name: "long", Columns: h.Columns, Measure: once, Most: 3},
	}, 5, Progress{})
	require.NoError(t, err)
	for i, rounds := range []int{5, 20, 3} {
		require.Len(t, h.Rows[i].Cells["a"].Rounds, rounds, h.Rows[i].Name)
	}
}
