package pathresolver_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// put replaces content in one go.
func put(r *pathresolver.Resolver, path, content string, o pathresolver.ReplaceOptions) error {
	w, err := r.Replace(path, o)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Write([]byte(content)); err != nil {
		return err
	}
	return w.Commit(context.Background(), nil)
}

func content(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	require.NoError(t, err)
	return string(b)
}

func listed(t *testing.T, parts ...string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(parts...))
	require.NoError(t, err)
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestReplace(t *testing.T) {
	_, root := scene(t, "out/f = old")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		tree(t, root, "out/f = old")
		for _, sync := range []bool{true, false} {
			require.NoError(t, put(r, "out/f", "new", pathresolver.ReplaceOptions{Sync: sync}))
			require.Equal(t, "new", content(t, root, "out/f"))
			require.NoError(t, put(r, "out/n", "new", pathresolver.ReplaceOptions{Sync: sync, Perm: 0o640}))
			info, err := os.Stat(filepath.Join(root, "out/n"))
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
			require.NoError(t, os.Remove(filepath.Join(root, "out/n")))
		}
		require.ErrorIs(t, put(r, "out/n", "x", pathresolver.ReplaceOptions{MustExist: true}), fs.ErrNotExist)
		require.ErrorIs(t, put(r, "out/f", "x", pathresolver.ReplaceOptions{MustBeNew: true}), fs.ErrExist)
		require.ErrorIs(t, put(r, "out/d/n", "x", pathresolver.ReplaceOptions{}), fs.ErrNotExist)
		require.ErrorIs(t, put(r, "out", "x", pathresolver.ReplaceOptions{}), syscall.EISDIR)
		require.ErrorIs(t, put(r, "out/n/", "x", pathresolver.ReplaceOptions{}), syscall.EISDIR)
		require.ErrorIs(t, put(r, "out/f/n", "x", pathresolver.ReplaceOptions{}), syscall.ENOTDIR)
		denied(t, put(r, "x", "x", pathresolver.ReplaceOptions{}), pathresolver.RuleNoWritePath)
		denied(t, put(r, "../outside/victim", "x", pathresolver.ReplaceOptions{}), pathresolver.RuleOutsideRoot)
		require.Equal(t, []string{"f"}, listed(t, root, "out"))
		require.Equal(t, "new", content(t, root, "out/f"))
	})
}

// Nothing is seen before Commit, and nothing stays without it.
func TestReplaceWithoutCommit(t *testing.T) {
	_, root := scene(t, "out/f = old")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		for _, path := range []string{"out/f", "out/n", "out/d/e/n"} {
			w, err := r.Replace(path, pathresolver.ReplaceOptions{Parents: true})
			require.NoError(t, err)
			_, err = w.Write([]byte("new"))
			require.NoError(t, err)
			require.Equal(t, "old", content(t, root, "out/f"))
			refusal := errors.New("refused")
			require.ErrorIs(t, w.Commit(context.Background(), func(*pathresolver.File) error { return refusal }), refusal)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			require.ErrorIs(t, w.Commit(ctx, nil), context.Canceled)
			require.NoError(t, w.Close())
			require.NoError(t, w.Close())
			require.Equal(t, []string{"f"}, listed(t, root, "out"), path)
			require.Equal(t, "old", content(t, root, "out/f"))
		}
		require.NoError(t, put(r, "out/d/e/n", "new", pathresolver.ReplaceOptions{Parents: true}))
		require.Equal(t, "new", content(t, root, "out/d/e/n"))
		require.NoError(t, os.RemoveAll(filepath.Join(root, "out/d")))
	})
}

// Parents are decided about before the first is made.
func TestReplaceParents(t *testing.T) {
	_, root := scene(t)
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"gen/deep"}, Protect: []string{"gen/deep/no"}}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		parents := pathresolver.ReplaceOptions{Parents: true}
		denied(t, put(r, "gen/deep/f", "x", parents), pathresolver.RuleNoWritePath)
		require.NoDirExists(t, filepath.Join(root, "gen"))
		require.NoError(t, os.Mkdir(filepath.Join(root, "gen"), 0o755))
		denied(t, put(r, "gen/deep/no/f", "x", parents), pathresolver.RuleProtected)
		require.NoDirExists(t, filepath.Join(root, "gen/deep"))
		require.NoError(t, put(r, "gen/deep/a/f", "x", parents))
		require.Equal(t, "x", content(t, root, "gen/deep/a/f"))
		require.NoError(t, os.RemoveAll(filepath.Join(root, "gen")))
	})
}

// What is asked under the lock is the file that is there then.
func TestReplaceAsks(t *testing.T) {
	_, root := scene(t, "out/")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		target := filepath.Join(root, "out/f")
		was := map[string]func(){
			"old": func() {},
			"replaced": func() {
				require.NoError(t, os.WriteFile(target+".other", []byte("replaced"), 0o644))
				require.NoError(t, os.Rename(target+".other", target))
			},
			"changed": func() { require.NoError(t, os.WriteFile(target, []byte("changed"), 0o644)) },
			"":        func() { require.NoError(t, os.Remove(target)) },
		}
		for want, change := range was {
			require.NoError(t, os.WriteFile(target, []byte("old"), 0o644))
			w, err := r.Replace("out/f", pathresolver.ReplaceOptions{})
			require.NoError(t, err)
			_, err = w.Write([]byte("new"))
			require.NoError(t, err)
			change()
			require.NoError(t, w.Commit(context.Background(), func(now *pathresolver.File) error {
				if want == "" {
					require.Nil(t, now)
					return nil
				}
				buf := make([]byte, 20)
				n, _ := now.ReadAt(buf, 0)
				require.Equal(t, want, string(buf[:n]))
				return nil
			}))
			require.NoError(t, w.Close())
			require.Equal(t, "new", content(t, target))
		}
		// One that appears meanwhile.
		require.NoError(t, os.Remove(target))
		for _, mustBeNew := range []bool{true, false} {
			w, err := r.Replace("out/f", pathresolver.ReplaceOptions{MustBeNew: mustBeNew})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(target, []byte("appeared"), 0o644))
			asked := false
			err = w.Commit(context.Background(), func(now *pathresolver.File) error { asked = now != nil; return nil })
			require.NoError(t, w.Close())
			if mustBeNew {
				require.ErrorIs(t, err, fs.ErrExist)
				require.Equal(t, "appeared", content(t, target))
			} else {
				require.NoError(t, err)
				require.True(t, asked)
				require.Empty(t, content(t, target))
			}
			require.NoError(t, os.Remove(target))
		}
		require.Empty(t, listed(t, root, "out"))
	})
}

// A file with other names, and a write path that is a single file, are written
// in place; no name but theirs comes to be.
func TestReplaceInPlace(t *testing.T) {
	_, root := scene(t, "out/f = old", "single = old")
	for _, links := range []pathresolver.HardLinks{pathresolver.HardLinksDeny, pathresolver.HardLinksAllow, pathresolver.HardLinksBreak} {
		cfg := pathresolver.Config{Root: root, WritePaths: []string{"out", "single"}, HardLinks: links}
		modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
			require.NoError(t, os.RemoveAll(filepath.Join(root, "out/f")))
			require.NoError(t, os.RemoveAll(filepath.Join(root, "h")))
			tree(t, root, "out/f = a longer old content", "h == out/f")
			err := put(r, "out/f", "new", pathresolver.ReplaceOptions{})
			switch links {
			case pathresolver.HardLinksDeny:
				denied(t, err, pathresolver.RuleHardLink)
				require.Equal(t, "a longer old content", content(t, root, "out/f"))
			case pathresolver.HardLinksAllow:
				require.NoError(t, err)
				require.Equal(t, "new", content(t, root, "h"))
			case pathresolver.HardLinksBreak:
				require.NoError(t, err)
				require.Equal(t, "a longer old content", content(t, root, "h"))
				require.Equal(t, "new", content(t, root, "out/f"))
			}
			before, err := os.Stat(filepath.Join(root, "single"))
			require.NoError(t, err)
			for _, text := range []string{"longer than before", "short", ""} {
				require.NoError(t, put(r, "single", text, pathresolver.ReplaceOptions{Sync: true}))
				require.Equal(t, text, content(t, root, "single"))
			}
			after, err := os.Stat(filepath.Join(root, "single"))
			require.NoError(t, err)
			require.True(t, os.SameFile(before, after))
			require.NoError(t, os.Remove(filepath.Join(root, "single")))
			require.NoError(t, put(r, "single", "made", pathresolver.ReplaceOptions{}))
			require.Equal(t, "made", content(t, root, "single"))
			for _, n := range listed(t, root) {
				require.False(t, strings.HasPrefix(n, ".pinfold"), n)
			}
			require.Equal(t, []string{"f"}, listed(t, root, "out"))
		})
	}
}

// CopyFrom, then Write: one behind the other.
func TestReplaceCopyFrom(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 300_000)
	_, root := scene(t, "out/")
	require.NoError(t, os.WriteFile(filepath.Join(root, "big"), big, 0o644))
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		src, err := r.OpenRead("big")
		require.NoError(t, err)
		defer src.Close()
		w, err := r.Replace("out/copy", pathresolver.ReplaceOptions{Like: src})
		require.NoError(t, err)
		defer w.Close()
		n, err := w.CopyFrom(context.Background(), src)
		require.NoError(t, err)
		require.EqualValues(t, len(big), n)
		_, err = w.Write([]byte("tail"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = src.Seek(0, 0)
		require.NoError(t, err)
		other, err := r.Replace("out/other", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		_, err = other.CopyFrom(ctx, src)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, other.Close())
		require.NoError(t, w.Commit(context.Background(), nil))
		require.Equal(t, string(big)+"tail", content(t, root, "out/copy"))
		require.Equal(t, []string{"copy"}, listed(t, root, "out"))
		require.NoError(t, os.Remove(filepath.Join(root, "out/copy")))
	})
}

// allows is what the rules say of a path.
func allows(r *pathresolver.Resolver, op access.Op, path string, kind fs.FileMode) error {
	_, err := r.Resolve(op, path, kind)
	return err
}

func TestAllows(t *testing.T) {
	_, root := scene(t, "out/", "out/up => ../src", "leak => ../outside/secret", "to-out => out", ".env = T")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"out"}, Hide: []string{"**/.env"}}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		for _, path := range []string{"ok.txt", "out", "none", "none/below", "."} {
			require.NoError(t, allows(r, access.OpRead, path, 0), path)
		}
		for _, path := range []string{"out/n", "out/a/b", "to-out/n", "out/../out/n"} {
			require.NoError(t, allows(r, access.OpWrite, path, 0), path)
		}
		denied(t, allows(r, access.OpRead, "leak", 0), pathresolver.RuleSymlinkEscape)
		denied(t, allows(r, access.OpRead, ".env", 0), pathresolver.RuleHidden)
		denied(t, allows(r, access.OpRead, "../outside", 0), pathresolver.RuleOutsideRoot)
		denied(t, allows(r, access.OpRead, "", 0), pathresolver.RuleInvalidPath)
		denied(t, allows(r, access.OpWrite, "x", 0), pathresolver.RuleNoWritePath)
		denied(t, allows(r, access.OpWrite, "out/up/x", 0), pathresolver.RuleNoWritePath)
		denied(t, allows(r, access.OpDelete, "out", 0), pathresolver.RuleWritePathSelf)
		require.NoError(t, allows(r, access.OpDelete, "out/up", 0)) // the link itself
		denied(t, allows(r, access.OpCreate, "new", fs.ModeDir), pathresolver.RuleNoWritePath)
	})
}

// Many who write into a directory that none of them found make it together.
func TestReplaceParentsTogether(t *testing.T) {
	_, root := scene(t, "out/")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		var all []*pathresolver.Replacement
		for _, name := range []string{"a", "b", "c/d", "c/e"} {
			w, err := r.Replace("out/new/"+name, pathresolver.ReplaceOptions{Parents: true})
			require.NoError(t, err)
			all = append(all, w)
		}
		for _, w := range all {
			_, err := w.Write([]byte("x"))
			require.NoError(t, err)
		}
		require.NoError(t, all[0].Close()) // who made it goes without
		for _, w := range all[1:] {
			if err := w.Commit(context.Background(), nil); err != nil {
				denied(t, err, pathresolver.RuleUnstable)
			}
			require.NoError(t, w.Close())
		}
		require.NoError(t, put(r, "out/new/a", "x", pathresolver.ReplaceOptions{Parents: true}))
		require.NoError(t, os.RemoveAll(filepath.Join(root, "out/new")))
	})
}
