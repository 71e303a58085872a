package viewbench

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// TestMain lets this binary be the worker of the environments under test.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		f := flag.NewFlagSet("worker", flag.ExitOnError)
		dir := f.String("dir", "", "")
		f.Bool("quick", false, "")
		_ = f.Parse(os.Args[2:])
		if worker.Serve(os.Stdin, os.Stdout, *dir, tiny()) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func tiny() worker.Scale {
	return worker.Scale{Small: 200, Forest: 100, Flat: 50, Repo: 60, Packages: 1, Large: 1, Many: 5, Loops: 64}
}

func options(t *testing.T, kinds ...Kind) Options {
	dir := t.TempDir()
	o := Options{Name: "root", Title: "test", Dir: dir, Tree: filepath.Join(dir, "tree"), Bin: filepath.Join(dir, "bin"),
		Kinds: append([]Kind{{Name: "native"}}, kinds...)}
	require.NoError(t, os.Mkdir(o.Tree, 0o755))
	require.NoError(t, GrowTree(o.Tree, tiny()))
	require.NoError(t, os.Mkdir(o.Bin, 0o755))
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(o.Bin, "bench")))
	return o
}

// throughEnv is a kind that wraps, made of a program that is everywhere.
func throughEnv(name string, words ...string) Kind {
	return Kind{Name: name, Wrap: func(_ Paths, argv []string) []string { return append(words, argv...) }}
}

func TestEnvironmentsTakeTurnsAndSeeEdits(t *testing.T) {
	b, err := Start(t.Context(), options(t, throughEnv("wrapped", "env", "A=b")), figures.Progress{})
	require.NoError(t, err)
	defer b.Close()
	h := b.Half()
	require.Equal(t, []string{"native", "wrapped"}, h.Columns)

	var rows []figures.Work
	for _, w := range append(b.Work(), b.HostEdit()) {
		switch w.Name {
		case "open", "create", StartRow, ProbeRow:
			rows = append(rows, w)
		}
	}
	require.Len(t, rows, 4)
	require.NoError(t, h.Run(t.Context(), rows, 2, figures.Progress{}))
	for _, r := range h.Rows {
		for _, c := range h.Columns {
			require.Empty(t, r.Cells[c].Err)
			require.Positive(t, h.Median(r.Name, c), "%s %s", r.Name, c)
		}
	}
}

func TestWhatCanNotStartIsLeftOutAndSaid(t *testing.T) {
	broken := Kind{Name: "broken", Mount: func(Paths) []string { return []string{"sh", "-c", "echo no such device >&2; exit 3"} }}
	b, err := Start(t.Context(), options(t, broken,
		Kind{Name: "absent", Needs: []string{"no-such-program"}}, throughEnv("dies", "false")), figures.Progress{})
	require.NoError(t, err)
	defer b.Close()
	require.Equal(t, []string{"native"}, b.Half().Columns)
	require.Len(t, b.Half().Notes, 3)
	require.Contains(t, b.Half().Notes[0], "no such device")
}

func TestAWorkerThatDiesFailsItsCellOnly(t *testing.T) {
	b, err := Start(t.Context(), options(t, throughEnv("wrapped", "env")), figures.Progress{})
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, b.env("wrapped").worker.cmd.Process.Kill())
	h := b.Half()
	require.NoError(t, h.Run(t.Context(), b.Work()[:1], 1, figures.Progress{}))
	require.NotEmpty(t, h.Rows[0].Cells["wrapped"].Err)
	require.Positive(t, h.Median("open", "native"))
}
