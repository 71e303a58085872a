package mcpbench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
)

// TestMain lets this binary be the bare server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "bare" {
		if Bare(context.Background()) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestEveryRowWorksOnEveryServer(t *testing.T) {
	o := Options{Tree: t.TempDir(), Bin: t.TempDir(), Files: 200, Calls: 3}
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(o.Bin, "bench")))
	if built := os.Getenv("PINFOLD_BIN"); built != "" {
		require.NoError(t, os.Symlink(built, filepath.Join(o.Bin, pinfold)))
	} else {
		out, err := exec.Command("go", "build", "-C", "../../..", "-o", filepath.Join(o.Bin, pinfold), "./cmd/pinfold").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}

	b, err := Start(o)
	require.NoError(t, err)
	defer b.Close()
	h := b.Half()
	require.Equal(t, []string{bare, pinfold}, h.Columns)
	require.NoError(t, h.Run(t.Context(), b.Work(), 2, figures.Progress{}))
	require.Len(t, h.Rows, len(Rows()))
	for _, r := range h.Rows {
		for _, c := range h.Columns {
			require.Empty(t, r.Cells[c].Err, "%s %s", r.Name, c)
			require.Positive(t, h.Median(r.Name, c), "%s %s", r.Name, c)
		}
	}
	require.Contains(t, b.clients, pinfold+" --no-sync", "the row without fsync has a server of its own")
	edited, err := os.ReadFile(filepath.Join(o.Tree, editedFile))
	require.NoError(t, err)
	is, was := oldWord, newWord
	if b.edited {
		is, was = was, is
	}
	require.Contains(t, string(edited), is, "the edits were really done")
	require.NotContains(t, string(edited), was)
}

func TestAnAnswerThatIsARefusalFailsTheCell(t *testing.T) {
	for _, answer := range []string{
		`{"id":1,"error":{"code":-1,"message":"no"}}`,
		`{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}`,
		`{"id":1,"result":{}}`,
	} {
		_, err := text([]byte(answer))
		require.Error(t, err, answer)
	}
	said, err := text([]byte(`{"id":1,"result":{"content":[{"type":"text","text":"yes"}]}}`))
	require.NoError(t, err)
	require.Equal(t, "yes", said)
}
