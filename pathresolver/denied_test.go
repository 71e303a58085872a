package pathresolver_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The exact text of a refusal by every rule that a quiet tree can
// provoke.
func TestMessages(t *testing.T) {
	_, root := scene(t, "leak => ../outside/secret", ".env = s", ".git/config = c", "out/h == src/x", "work/secrets/a = s", "p => /proc/self/root")
	r, err := pathresolver.New(pathresolver.Config{
		Root: root, WritePaths: []string{"out", "work", ".git"}, Hide: []string{"**/.env"}, Protect: []string{"work/secrets"},
	})
	require.NoError(t, err)
	defer r.Close()
	readOnly, err := pathresolver.New(pathresolver.Config{Root: root})
	require.NoError(t, err)
	defer readOnly.Close()
	read := func(p string) error { _, err := r.ReadFile(p); return err }
	var b strings.Builder
	for _, e := range []error{
		read("../outside/secret"),
		read("/etc/passwd"),
		read("leak"),
		read("p/etc/passwd"),
		read(""),
		read("nul\x00byte"),
		read("sub/.env"),
		r.WriteFile("go.mod", nil, 0o644),
		r.WriteFile("evil\x1b[31m\n\u202e\xff", nil, 0o644),
		readOnly.WriteFile("go.mod", nil, 0o644),
		r.WriteFile(".git/config", nil, 0o644),
		r.Remove("out"),
		r.Rename("work", "out/w", pathresolver.RenameReplace),
		r.Rename("out", "work/w", pathresolver.RenameReplace),
		r.WriteFile("out/h", nil, 0o644),
		r.Chmod("src/x", 0o600),
		r.Link("src/x", "out/link"),
	} {
		require.ErrorIs(t, e, os.ErrPermission)
		fmt.Fprintf(&b, "%s\n\n", e)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "work/d/e"), 0o755))
	golden := "testdata/messages.golden"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

// The root as a write path is told in words.
func TestMessageOfEverythingWritable(t *testing.T) {
	_, root := scene(t)
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Protect: []string{"go.mod"}})
	require.NoError(t, err)
	defer r.Close()
	err = r.WriteFile("go.mod", nil, 0o644)
	require.ErrorContains(t, err, " for writing; writable: everything beneath the sandbox root that is neither hidden nor protected")
	require.NoError(t, r.WriteFile("new", nil, 0o644))
}
