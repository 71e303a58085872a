package pathresolver_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func names(t *testing.T, d *pathresolver.Dir) []string {
	t.Helper()
	list, err := d.ReadDir()
	require.NoError(t, err)
	var out []string
	for _, e := range list {
		out = append(out, e.Name()+e.Type().String()[:1])
	}
	slices.Sort(out)
	return out
}

func TestDirLists(t *testing.T) {
	_, root := scene(t, "l => sub", "sub/.env = SECRET", "sub/up => ../x", "secrets/deep/x = SECRET")
	cfg := pathresolver.Config{Root: root, Hide: []string{"**/.env", "secrets"}}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		for path, place := range map[string]string{".": ".", "l": "sub", "sub/deep/..": "sub", filepath.Join(root, "sub"): "sub"} {
			d, err := r.OpenDir(path)
			require.NoError(t, err, path)
			require.Equal(t, place, d.Place())
			require.NoError(t, d.Close())
			require.ErrorIs(t, d.Close(), fs.ErrClosed)
		}
		d, err := r.OpenDir("l") // a link inside, to get there
		require.NoError(t, err)
		defer d.Close()
		for range 2 { // each listing is whole
			require.Equal(t, []string{"deepd", "upL", "x-"}, names(t, d))
		}
		text, err := d.Readlink("up")
		require.NoError(t, err)
		require.Equal(t, "../x", text)
		info, err := d.Lstat("deep/f.txt")
		require.NoError(t, err)
		require.EqualValues(t, 4, info.Size())
		require.Equal(t, "f.txt", info.Name())
		_, err = d.Open(".env")
		denied(t, err, pathresolver.RuleHidden)
		top, err := r.OpenDir(".")
		require.NoError(t, err)
		defer top.Close()
		require.NotContains(t, names(t, top), "secretsd")
		_, err = top.Open("secrets/deep/x")
		denied(t, err, pathresolver.RuleHidden)
		_, err = top.OpenDir("secrets/deep")
		denied(t, err, pathresolver.RuleHidden)
		require.Contains(t, mustNames(t, filepath.Join(root, "sub")), ".env", "without the guard it is listed")
	})
}

func mustNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// T02: what a walk meets on its way down is never followed.
func TestDirFollowsNothing(t *testing.T) {
	base, root := scene(t, "d/ld => ../../outside", "d/lf => ../../outside/secret", "d/in => ../sub", "d/f => ../x", "d/loop => .")
	modes(t, pathresolver.Config{Root: root}, func(t *testing.T, r *pathresolver.Resolver) {
		d, err := r.OpenDir("d")
		require.NoError(t, err)
		defer d.Close()
		for _, name := range []string{"ld", "in", "loop", "ld/dir", "in/deep", "loop/loop"} {
			_, err := d.OpenDir(name)
			require.ErrorIs(t, err, syscall.ELOOP, name)
			_, err = os.ReadDir(filepath.Join(root, "d", name))
			require.NoError(t, err, "without the guard it works")
		}
		for _, name := range []string{"lf", "f", "ld/secret", "in/x", "loop/f"} {
			_, err := d.Open(name)
			require.ErrorIs(t, err, syscall.ELOOP, name)
			_, err = os.ReadFile(filepath.Join(root, "d", name))
			require.NoError(t, err, "without the guard it works")
		}
		for _, name := range []string{"", ".", "..", "../x", "/", "/x", "a//b", "a/", "./a", "a/../b", root + "/x"} {
			_, err := d.Open(name)
			require.ErrorIs(t, err, syscall.EINVAL, "%q", name)
			_, err = d.OpenDir(name)
			require.ErrorIs(t, err, syscall.EINVAL, "%q", name)
		}
		_, err = d.Lstat("ld/secret")
		require.ErrorIs(t, err, syscall.ELOOP)
		require.NotContains(t, err.Error(), base)
		_, err = r.OpenDir("d/ld")
		denied(t, err, pathresolver.RuleSymlinkEscape)
		_, err = r.OpenDir("d/f") // a link to a file
		require.ErrorIs(t, err, syscall.ENOTDIR)
	})
}

func TestOpenRead(t *testing.T) {
	_, root := scene(t, "l => sub/x", "sub/up => ..", "out => ../outside/secret", "empty = ")
	modes(t, pathresolver.Config{Root: root}, func(t *testing.T, r *pathresolver.Resolver) {
		for path, place := range map[string]string{"sub/x": "sub/x", "l": "sub/x", "sub/up/x": "x", "./sub//x": "sub/x", "sub/../x": "x"} {
			f, err := r.OpenRead(path)
			require.NoError(t, err, path)
			require.Equal(t, place, f.Place(), path)
			data, err := io.ReadAll(f)
			require.NoError(t, err)
			want, err := os.ReadFile(filepath.Join(root, path))
			require.NoError(t, err)
			require.Equal(t, string(want), string(data))
			require.NoError(t, f.Close())
			require.ErrorIs(t, f.Close(), fs.ErrClosed)
		}
		f, err := r.OpenRead("sub/x")
		require.NoError(t, err)
		defer f.Close()
		var two [2]byte
		_, err = f.ReadAt(two[:], 2)
		require.NoError(t, err)
		require.Equal(t, "bx", string(two[:]))
		n, err := f.ReadAt(two[:], 3)
		require.Equal(t, io.EOF, err)
		require.Equal(t, 1, n)
		_, err = f.ReadAt(two[:], -1)
		require.Error(t, err)
		at, err := f.Seek(-1, io.SeekEnd)
		require.NoError(t, err)
		require.EqualValues(t, 3, at)
		info, err := f.Stat()
		require.NoError(t, err)
		require.EqualValues(t, 4, info.Size())

		dir, err := r.OpenRead("sub")
		require.NoError(t, err)
		defer dir.Close()
		_, err = dir.Read(two[:])
		require.Error(t, err)
		_, err = r.OpenRead("out")
		denied(t, err, pathresolver.RuleSymlinkEscape)
		_, err = r.OpenRead("nope")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.Equal(t, "nope", pathOf(err))
	})
}

func pathOf(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Path
	}
	return ""
}

// A tree far deeper than the system's longest path takes one descriptor at a
// time, and a place beneath it one call.
func TestDirDeep(t *testing.T) {
	_, root := scene(t)
	deep := strings.TrimSuffix(strings.Repeat("d/", 500), "/")
	tree(t, root, deep+"/f = bottom")
	modes(t, pathresolver.Config{Root: root}, func(t *testing.T, r *pathresolver.Resolver) {
		top, err := r.OpenDir(".")
		require.NoError(t, err)
		defer top.Close()
		f, err := top.Open(deep + "/f")
		require.NoError(t, err)
		defer f.Close()
		require.Equal(t, deep+"/f", f.Place())
		d, err := top.OpenDir(deep)
		require.NoError(t, err)
		defer d.Close()
		require.Equal(t, []string{"f-"}, names(t, d))
	})
}

// A large directory comes whole: nothing is lost between two blocks.
func TestDirMany(t *testing.T) {
	_, root := scene(t)
	const n = 5000
	for i := range n {
		require.NoError(t, os.WriteFile(filepath.Join(root, "a", fmt.Sprintf("file-%05d-%s", i, strings.Repeat("n", i%200))), nil, 0o600))
	}
	modes(t, pathresolver.Config{Root: root, Hide: []string{"a/*-00007-*"}}, func(t *testing.T, r *pathresolver.Resolver) {
		d, err := r.OpenDir("a")
		require.NoError(t, err)
		defer d.Close()
		var all sync.WaitGroup
		for range 4 { // at the same time: no listing takes from another
			all.Go(func() {
				got := map[string]bool{}
				list, err := d.ReadDir()
				assert.NoError(t, err)
				for _, e := range list {
					got[e.Name()] = true
				}
				assert.Len(t, got, n-1)
			})
		}
		all.Wait()
	})
}
