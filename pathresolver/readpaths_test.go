package pathresolver_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func entryNames(list []fs.DirEntry) string {
	var all []string
	for _, e := range list {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// What no read path covers does not exist; what leads to one shows only that.
func TestReadPaths(t *testing.T) {
	_, root := scene(t, "docs/a/b = b", "docs/c = c", "docs/out => ../src/x", "docs/a/.env = s", "notes = n", "Docs/x = X")
	cfg := pathresolver.Config{Root: root, ReadPaths: []string{"docs/a", "notes", "docs/a/b", "docs/out", "later/on"}, WritePaths: []string{"docs/a"}, Hide: []string{"**/.env"}}
	cfg.ReadPaths[3] = "sub/deep"
	unread := pathresolver.RuleNotReadable
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		require.Equal(t, []string{"docs/a", "later/on", "notes", "sub/deep"}, r.ReadPaths())
		for _, p := range []string{"docs/a/b", "notes", "sub/deep/f.txt", "docs/../notes"} {
			_, err := r.ReadFile(p)
			require.NoError(t, err, p)
			require.NoError(t, allows(r, access.OpRead, p, 0))
		}
		for _, p := range []string{"docs/c", "docs/out", "src/x", "src", "x", "sub/x", "Docs/x", "docs/A/b", "missing", "docs/a/../c"} {
			_, err := r.ReadFile(p)
			d := denied(t, err, unread)
			require.Contains(t, d.Error(), "; readable: docs/a, later/on, notes, sub/deep")
			_, err = r.Stat(p)
			denied(t, err, unread)
			denied(t, r.WriteFile(p, nil, 0o644), unread)
			denied(t, allows(r, access.OpRead, p, 0), unread)
			require.Equal(t, unread, r.Explain(access.OpRead, p).Rule)
		}
		for dir, want := range map[string]string{".": "docs notes sub", "docs": "a", "sub": "deep", "docs/a": "b"} {
			list, err := r.ReadDir(dir)
			require.NoError(t, err, dir)
			require.Equal(t, want, entryNames(list), dir)
			d, err := r.OpenDir(dir)
			require.NoError(t, err)
			list, err = d.ReadDir()
			require.NoError(t, err)
			require.Len(t, list, len(strings.Fields(want)), dir)
			_, err = d.Lstat("missing")
			require.Error(t, err)
			require.NoError(t, d.Close())
			_, err = r.Stat(dir)
			require.NoError(t, err)
		}
		_, err := r.Open(".")
		denied(t, err, pathresolver.RuleHidden)
		_, err = r.ReadFile("docs/a/.env")
		denied(t, err, pathresolver.RuleHidden)
		// What is only traversed is no write path, nor may anything be made beside one.
		denied(t, r.Mkdir("later", 0o755), pathresolver.RuleNoWritePath)
		denied(t, r.Rename("docs/a/b", "docs/b", pathresolver.RenameReplace), unread)
		denied(t, r.Remove("docs"), pathresolver.RuleNoWritePath)
		require.NoError(t, r.WriteFile("docs/a/new", nil, 0o644))
		require.NoError(t, r.Remove("docs/a/new"))
	})
	cfg.ReadPaths = nil
	r, err := pathresolver.New(cfg)
	require.NoError(t, err)
	defer r.Close()
	_, err = r.ReadFile("docs/out")
	require.NoError(t, err, "without read paths all is readable")
}

// A file where a directory should lead to a read path is not there.
func TestTraverseOnlyIsADirectory(t *testing.T) {
	_, root := scene(t, "docs/")
	modes(t, pathresolver.Config{Root: root, ReadPaths: []string{"docs/a"}}, func(t *testing.T, r *pathresolver.Resolver) {
		at := filepath.Join(root, "docs")
		_, err := r.Stat("docs")
		require.NoError(t, err)
		require.NoError(t, os.Remove(at))
		require.NoError(t, os.WriteFile(at, []byte("SECRET"), 0o600))
		defer func() { require.NoError(t, os.Remove(at)); require.NoError(t, os.Mkdir(at, 0o755)) }()
		for _, err := range []error{
			second(r.ReadFile("docs")), second(r.Stat("docs")), second(r.OpenRead("docs")), second(r.Readlink("docs")), second(r.Open("docs")),
		} {
			denied(t, err, pathresolver.RuleNotReadable)
		}
		d, err := r.OpenDir(".")
		require.NoError(t, err)
		defer d.Close()
		denied(t, second(d.Lstat("docs")), pathresolver.RuleNotReadable)
		denied(t, second(d.Open("docs")), pathresolver.RuleNotReadable)
		require.False(t, r.Explain(access.OpRead, "docs").Allowed)

		require.NoError(t, os.Remove(at))
		require.NoError(t, os.Symlink("sub", at))
		text, err := d.Readlink("docs")
		denied(t, err, pathresolver.RuleNotReadable)
		require.Empty(t, text)
		list, err := d.ReadDir()
		require.NoError(t, err)
		require.Empty(t, list)
		list, err = r.ReadDir(".")
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

func second[T any](_ T, err error) error { return err }

func TestValidateReadPaths(t *testing.T) {
	base, root := scene(t, "l => src", "out => ../outside", "f = f")
	found := func(cfg pathresolver.Config) string {
		cfg.Root = root
		var all []string
		for _, v := range pathresolver.Validate(cfg) {
			all = append(all, string(v.Code)+" "+v.Field)
			require.NotContains(t, v.Message, "allowed_read")
		}
		return strings.Join(all, ", ")
	}
	require.Empty(t, found(pathresolver.Config{ReadPaths: []string{"src", "nope/yet", root + "/sub"}}))
	require.Equal(t, "nothing_readable read_paths", found(pathresolver.Config{ReadPaths: []string{}}))
	require.Equal(t, "path_dot_dot read_paths[0], path_outside read_paths[1], path_symlink read_paths[2], path_symlink_out read_paths[3], path_beneath_file read_paths[4], path_empty read_paths[5]",
		found(pathresolver.Config{ReadPaths: []string{"../x", base + "/outside", "l/x", "out", "f/x", ""}}))
	require.Equal(t, "path_not_readable write_paths[0], path_not_readable write_paths[1]",
		found(pathresolver.Config{ReadPaths: []string{"src/a"}, WritePaths: []string{"sub", "src"}}))
	require.Empty(t, found(pathresolver.Config{ReadPaths: []string{"src"}, WritePaths: []string{"src/a"}}))
	require.Equal(t, "bad_pattern ask_read[0], bad_pattern ask_write[1]",
		found(pathresolver.Config{AskRead: []string{"["}, AskWrite: []string{"ok", "../x"}}))
}
