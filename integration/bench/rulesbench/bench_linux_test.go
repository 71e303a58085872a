package rulesbench

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
	"github.com/pinfold-dev/pinfold/permission"
)

// few are the sizes that are compiled at once.
var few = []int{0, 10, 1_000}

func TestEverySizeChecksEveryRow(t *testing.T) {
	b, err := New(few)
	require.NoError(t, err)
	h := b.Half()
	require.NoError(t, h.Run(t.Context(), b.Work(10), 2, figures.Progress{}))
	for _, row := range Rows() {
		for _, c := range h.Columns {
			require.Positive(t, h.Median(row, c), "%s %s", row, c)
		}
	}
	for _, g := range Goals() {
		v, ok := g.Judge([]*figures.Half{h})
		require.Equal(t, g.Half == Name, ok)
		require.True(t, !ok || v.State != figures.NotMeasured || g.Column == "100000", g.Text())
	}
	for _, n := range few {
		// What the runtime allocates meanwhile counts, too: 2 of 4,000 were seen.
		require.Less(t, b.Allocations(t.Context(), column(n)), 0.01)
	}
}

// The policies decide what the rows are called after.
func TestRowsAreWhatTheySay(t *testing.T) {
	b, err := New(few)
	require.NoError(t, err)
	for _, n := range few {
		for _, r := range requests {
			d := b.enforcers[column(n)].Check(t.Context(), r.request)
			require.Equal(t, r.name != "check_refused", d.Allowed(), "%s of %d rules: %s", r.name, n, d.Text())
		}
	}
}

func TestViewPoliciesCanBeRead(t *testing.T) {
	dir := t.TempDir()
	kinds, err := ViewKinds(dir)
	require.NoError(t, err)
	require.Equal(t, []string{Without, With}, []string{kinds[0].Name, kinds[1].Name})
	p, err := permission.Load(os.DirFS(dir), With+".yaml", permission.Options{})
	require.NoError(t, err)
	held, err := p.Resolver("/p")
	require.NoError(t, err)
	require.Greater(t, len(held.Config.Hide)+len(held.Config.Protect)+len(held.Config.AskWrite), 999)
	require.FileExists(t, filepath.Join(dir, Without+".yaml"))

	var known []string
	for _, r := range worker.Rows() {
		known = append(known, r.Name)
	}
	for _, row := range ViewRows() {
		require.True(t, slices.Contains(known, row), row)
	}
}
