package brokerbench

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
)

// Every row of both tables runs, on both stores, and nothing stays behind.
func TestEveryRowRuns(t *testing.T) {
	// Short, since sockets lie beneath it, and the server's user goes through it.
	dir, err := os.MkdirTemp("/tmp", "pf")
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	require.NoError(t, os.Chmod(dir, 0o755))
	b, err := Start(context.Background(), dir, Quick(), figures.Progress{})
	require.NoError(t, err)
	h := b.Half()
	require.NoError(t, h.Run(t.Context(), b.Work(4), 2, figures.Progress{}))
	require.NoError(t, b.Close())
	checks, err := MeasureChecks(t.Context(), 10, 1, figures.Progress{})
	require.NoError(t, err)
	measured := map[string]bool{}
	for _, half := range []*figures.Half{h, checks} {
		for _, r := range half.Rows {
			measured[r.Name] = true
			for _, c := range half.Columns {
				require.Empty(t, r.Cells[c].Err, "%s %s", r.Name, c)
				require.Positive(t, r.Cells[c].Median(), "%s %s", r.Name, c)
			}
		}
	}
	for _, name := range Rows() {
		require.True(t, measured[name], name)
	}
	for _, g := range Goals() {
		_, found := g.Judge([]*figures.Half{h, checks})
		require.True(t, found, g.Text())
	}
	left, err := os.ReadDir(dir + "/" + Postgres)
	require.NoError(t, err)
	require.Empty(t, left)
}
