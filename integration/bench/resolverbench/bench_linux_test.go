package resolverbench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
)

func TestEveryContestantDoesEveryRow(t *testing.T) {
	b, err := New(t.TempDir())
	require.NoError(t, err)
	defer b.Close()
	h := b.Half()
	require.NoError(t, h.Run(t.Context(), b.Work(0.005), 2, figures.Progress{}))
	for _, r := range h.Rows {
		for column, cell := range r.Cells {
			require.Empty(t, cell.Err, "%s %s", r.Name, column)
			require.Positive(t, cell.Median(), "%s %s", r.Name, column)
		}
	}
	for _, g := range Goals() {
		v, ok := g.Judge([]*figures.Half{h})
		require.True(t, ok)
		require.NotEqual(t, "not measured", v.State, g.Text())
	}
}

func TestOpenFDAllocatesNothing(t *testing.T) {
	b, err := New(t.TempDir())
	require.NoError(t, err)
	defer b.Close()
	for _, g := range AllocationGoals() {
		got, err := b.Allocations(g.Row, g.Column)
		require.NoError(t, err)
		require.LessOrEqual(t, got, g.Max+0.01, "%s %s", g.Row, g.Column)
	}
	got, err := b.Allocations("depth5", "os.Root")
	require.NoError(t, err)
	require.Positive(t, got, "the count counts")
}
