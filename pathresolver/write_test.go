package pathresolver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func TestWritePaths(t *testing.T) {
	_, root := scene(t, "out/", "out2/", "out/ls => ../src/x", "out/dangling => ../src/new", "out/ld => ../src", "to-out => out", "out/in => a/b")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"out"}}
	noWrite := pathresolver.RuleNoWritePath
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		data := []byte("new")
		require.NoError(t, r.WriteFile("out/f", data, 0o644))
		require.NoError(t, r.WriteFile("./out//n", data, 0o644))
		require.NoError(t, r.WriteFile(filepath.Join(root, "out/n2"), data, 0o644))
		require.NoError(t, r.WriteFile("to-out/via", data, 0o644))
		require.FileExists(t, filepath.Join(root, "out/via"))
		require.NoError(t, r.MkdirAll("out/a", 0o755))
		require.NoError(t, r.WriteFile("out/in", data, 0o644)) // L13
		require.FileExists(t, filepath.Join(root, "out/a/b"))
		for _, p := range []string{"src/x", "out2/n", "out/../src/x", "out/ls", "out/dangling", "out/ld/y", "new"} {
			denied(t, r.WriteFile(p, data, 0o644), noWrite)
		}
		require.NoFileExists(t, filepath.Join(root, "src/new"))
		got, err := r.ReadFile("out/ls")
		require.NoError(t, err)
		require.Equal(t, "srcx", string(got))
		denied(t, r.Mkdir("src/d", 0o755), noWrite)
		denied(t, r.MkdirAll("src/d/e", 0o755), noWrite)
		denied(t, r.Remove("src/x"), noWrite)
		denied(t, r.RemoveAll("src"), noWrite)
		denied(t, r.Chmod("src/x", 0o600), noWrite)
		denied(t, r.Truncate("src/x", 0), noWrite)
		denied(t, r.Rename("src/x", "out/x", pathresolver.RenameReplace), noWrite)
		denied(t, r.Rename("out/f", "src/y", pathresolver.RenameReplace), noWrite)
		denied(t, r.Link("src/x", "out/h"), noWrite)
		denied(t, r.Remove("out"), pathresolver.RuleWritePathSelf)
		denied(t, r.RemoveAll("out"), pathresolver.RuleWritePathSelf)
		denied(t, r.Rename("out", "out/x", pathresolver.RenameReplace), pathresolver.RuleWritePathSelf)
		denied(t, r.WriteFile("OUT/x", data, 0o644), noWrite)
		require.NoError(t, r.Rename("out/f", "out/g", pathresolver.RenameReplace))
		require.NoError(t, r.Chmod("out/g", 0o600))
		require.NoError(t, r.Truncate("out/g", 1))
		require.NoError(t, r.Link("out/g", "out/h"))
		require.NoError(t, r.WriteFile("out/h", data, 0o644)) // every link was made here
		require.NoError(t, r.Symlink("g", "out/s"))
		require.NoError(t, r.RemoveAll("out/a"))
		for _, n := range []string{"g", "h", "s", "n", "n2", "via"} {
			require.NoError(t, r.Remove("out/"+n))
		}
		b, err := os.ReadFile(filepath.Join(root, "src/x"))
		require.NoError(t, err)
		require.Equal(t, "srcx", string(b))
	})
}
