package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/bench/brokerbench"
	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/mcpbench"
	"github.com/pinfold-dev/pinfold/integration/bench/rulesbench"
	"github.com/pinfold-dev/pinfold/integration/bench/viewbench"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// TestMain lets the bench start itself: its namespaces and workers run this
// binary's first words.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"worker", "isolated", "bare"}, os.Args[1]) {
		main()
	}
	os.Exit(m.Run())
}

func TestResolverHalfFromFlagsToJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.json")
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer out.Close()
	dir := t.TempDir()
	require.Zero(t, run(t.Context(), []string{"--halves", "resolver", "--quick", "--rounds", "1", "--rows", "depth5",
		"--dir", dir, "--json", file}, nil, out, out))

	var got report
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &got))
	require.Len(t, got.Halves, 1)
	require.Len(t, got.Halves[0].Rows, 1)
	require.Positive(t, got.Halves[0].Median("depth5", "openfd"))
	require.NotEmpty(t, got.Must)

	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.Contains(t, string(text), "load ")
	require.NotContains(t, string(text), "\r", "a pipe gets no progress")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "nothing stays behind")
}

func TestWrongUsageIsStatus2(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, unix.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	for _, args := range [][]string{{"--halves", "moon"}, {"--rows", "[a"}, {"--nonsense"}, {"word"}, {"--rounds", "-1"}} {
		require.Equal(t, 2, run(t.Context(), args, nil, null, null), "%v", args)
	}
}

func TestEveryGoalIsAboutARowThatExists(t *testing.T) {
	known := []string{viewbench.StartRow, viewbench.ProbeRow}
	for _, r := range worker.Rows() {
		known = append(known, r.Name)
	}
	known = slices.Concat(known, mcpbench.Rows(), rulesbench.Rows(), brokerbench.Rows())
	for _, g := range goals() {
		if g.Half != "resolver" {
			require.Contains(t, known, g.Row)
		}
	}
}

func TestAGoalNobodyAskedForIsNotListed(t *testing.T) {
	h := &figures.Half{Name: rootHalf, Columns: []string{"native"}, Rows: []*figures.Row{{Name: "stat"}}}
	r := &report{Halves: []*figures.Half{h}}
	r.end()
	for _, v := range slices.Concat(r.Must, r.Later) {
		require.Equal(t, "stat", v.Goal.Row)
		require.Equal(t, figures.NotMeasured, v.State)
	}
	require.NotEmpty(t, r.Must)
}
