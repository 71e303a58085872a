package worker_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/bench/viewbench"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// tiny is enough for every row to have something to do.
func tiny() worker.Scale {
	return worker.Scale{Small: 200, Forest: 100, Flat: 50, Repo: 60, Packages: 1, Large: 17, Many: 5, Loops: 64}
}

// serve starts a worker on the bare tree, and gives a way to ask it.
func serve(t *testing.T) (tree string, ask func(worker.Request) worker.Reply) {
	tree = t.TempDir()
	require.NoError(t, viewbench.GrowTree(tree, tiny()))
	require.NoError(t, os.Mkdir(filepath.Join(tree, worker.WriteDir, "me"), 0o755))
	t.Chdir(tree)
	requestR, requestW := io.Pipe()
	replyR, replyW := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- worker.Serve(requestR, replyW, "w/me", tiny()) }()
	t.Cleanup(func() {
		require.NoError(t, requestW.Close())
		require.NoError(t, <-ended)
	})
	replies := json.NewDecoder(replyR)
	return tree, func(q worker.Request) (r worker.Reply) {
		require.NoError(t, json.NewEncoder(requestW).Encode(q))
		require.NoError(t, replies.Decode(&r))
		return r
	}
}

func TestEveryRowDoesItsWorkAndClearsUp(t *testing.T) {
	tree, ask := serve(t)
	for _, row := range worker.Rows() {
		if row.Name == "rg" {
			continue // ripgrep comes with `make bench`; grep is the same row here
		}
		for range 2 { // the second round meets what the first one left
			r := ask(worker.Request{Row: row.Name})
			require.Empty(t, r.Err, row.Name)
			require.Positive(t, r.NS, row.Name)
		}
	}
	left, err := os.ReadDir(filepath.Join(tree, "w/me"))
	require.NoError(t, err)
	for _, e := range left {
		require.Equal(t, "go", e.Name(), "only the build cache stays, for the second build")
	}
}

func TestARowThatFindsLessThanThereIsFails(t *testing.T) {
	tree, ask := serve(t)
	require.Empty(t, ask(worker.Request{Row: "readdir"}).Err)
	require.NoError(t, os.RemoveAll(filepath.Join(tree, worker.FlatDir)))
	require.NoError(t, os.Mkdir(filepath.Join(tree, worker.FlatDir), 0o755))
	require.NotEmpty(t, ask(worker.Request{Row: "readdir"}).Err)
	require.NotEmpty(t, ask(worker.Request{Row: "no-such-row"}).Err)
}

func TestProbeWaitsForTheEdit(t *testing.T) {
	tree, ask := serve(t)
	require.NoError(t, os.WriteFile(filepath.Join(tree, worker.ProbeFile), []byte("edited"), 0o644))
	require.Empty(t, ask(worker.Request{Row: "probe", Text: "edited"}).Err)
}
