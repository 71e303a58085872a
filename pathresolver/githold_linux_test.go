//go:build linux && !portable

package pathresolver_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Whether a directory is a repository is asked again when content that was staged
// before gets its name: two files that are each harmless without the other would
// make one that runs a program.
func TestGitRepositoryOfTwoFiles(t *testing.T) {
	staged := func(t *testing.T, r *pathresolver.Resolver, first, second string) error {
		t.Helper()
		require.NoError(t, r.MkdirAll("new/objects", 0o755))
		require.NoError(t, r.MkdirAll("new/refs", 0o755))
		w, err := r.Replace("new/"+first, pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		defer w.Close()
		_, err = w.Write([]byte("[core]\n\tfsmonitor = evil\n"))
		require.NoError(t, err)
		require.NoError(t, r.WriteFile("new/"+second, []byte("[core]\n\tfsmonitor = evil\n"), 0o644))
		return w.Commit(context.Background(), nil)
	}
	_, root := scene(t)
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"."}}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		// Somebody else makes it a repository meanwhile.
		w, err := r.Replace("a/config", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(root, "a/HEAD"), nil, 0o644))
		denied(t, w.Commit(context.Background(), nil), pathresolver.RuleProtected)
		require.NoError(t, errors.Join(w.Close(), os.Remove(filepath.Join(root, "a/HEAD"))))

		denied(t, staged(t, r, "config", "HEAD"), pathresolver.RuleGitContent)
		require.NoError(t, r.RemoveAll("new"))
		denied(t, staged(t, r, "HEAD", "config"), pathresolver.RuleGitDir)
		require.NoError(t, r.RemoveAll("new"))
	})
	cfg.Unprotect = []string{".git"}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		require.NoError(t, staged(t, r, "config", "HEAD"))
		require.NoError(t, r.RemoveAll("new"))
	})
}

// Whoever is asked at a commit may use the resolver, for moves, too.
func TestCommitHoldsNothingWhileItAsks(t *testing.T) {
	_, root := scene(t)
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		require.NoError(t, r.Mkdir("new", 0o755))
		w, err := r.Replace("new/HEAD", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Commit(context.Background(), func(*pathresolver.File) error {
			return r.Rename("src/x", "src/y", pathresolver.RenameReplace)
		}))
		require.NoError(t, w.Close())
		require.NoError(t, r.Rename("src/y", "src/x", pathresolver.RenameReplace))

		w, err = r.Replace("new/f", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		denied(t, w.Commit(context.Background(), func(*pathresolver.File) error {
			return r.Rename("new", "new2", pathresolver.RenameReplace)
		}), pathresolver.RuleUnstable)
		require.NoError(t, w.Close())
		require.NoError(t, r.RemoveAll("new2"))
	})
}

// Likewise where both are made at the same time.
func TestGitRepositoryMadeAtOnce(t *testing.T) {
	_, root := scene(t)
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}, Restrict: yielding}, func(t *testing.T, r *pathresolver.Resolver) {
		for range 300 {
			require.NoError(t, r.Mkdir("new", 0o755))
			var wg sync.WaitGroup
			for _, name := range []string{"new/HEAD", "new/config"} {
				wg.Go(func() {
					if f, err := r.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644); err == nil {
						f.Close()
					}
				})
			}
			wg.Wait()
			made, err := os.ReadDir(filepath.Join(root, "new"))
			require.NoError(t, err)
			require.Len(t, made, 1, "one of them, and not both")
			require.NoError(t, r.RemoveAll("new"))
		}
	})
}

// yielding restricts nothing, but lets others run after a decision about git
// directories that allows something, and before it is acted upon.
func yielding(op access.Op, _ string, _ fs.FileMode) string {
	for range 5 {
		if op != access.OpRename {
			runtime.Gosched()
		}
	}
	return ""
}

// A repository that was made here changes places with one that stood there while
// it is changed in ways that only the first one allows.
func TestGitRepositoriesExchanged(t *testing.T) {
	const rounds = 100
	const mine, theirs = "src/mine", "deep/own"
	type change struct {
		name string
		do   func(r *pathresolver.Resolver, at string) error
	}
	changes := []change{
		{"open", func(r *pathresolver.Resolver, at string) error {
			f, err := r.OpenFile(at+"rebase-merge/git-rebase-todo", os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("exec evil\n")
			return err
		}},
		{"write", func(r *pathresolver.Resolver, at string) error {
			return r.WriteFile(at+"info/attributes", []byte("* filter=x\n"), 0o644)
		}},
		{"mkdir", func(r *pathresolver.Resolver, at string) error { return r.MkdirAll(at+"remotes", 0o755) }},
		{"chmod", func(r *pathresolver.Resolver, at string) error { return r.Chmod(at+"config", 0o640) }},
		{"rename", func(r *pathresolver.Resolver, at string) error {
			return r.Rename(at+"rebase-merge/done", at+"rebase-merge/author", pathresolver.RenameReplace)
		}},
		{"remove", func(r *pathresolver.Resolver, at string) error { return r.Remove(at + "config") }},
		{"removeall", func(r *pathresolver.Resolver, at string) error { return r.RemoveAll(at + "rebase-merge") }},
	}
	// race does one change again and again, the first repository always as before,
	// and says how often it worked, and what the other one was and is like.
	race := func(t *testing.T, cfg pathresolver.Config, c change) (worked int, before, after map[string]string) {
		_, root := scene(t, theirs+"/.git/HEAD = h")
		cfg.Root, cfg.WritePaths, cfg.Restrict = root, []string{"."}, yielding
		r, err := pathresolver.New(cfg)
		require.NoError(t, err)
		defer r.Close()
		fill := func(dir string) {
			tree(t, dir, ".git/HEAD = h", ".git/config = c", ".git/info/", ".git/rebase-merge/git-rebase-todo = pick\n", ".git/rebase-merge/done = d")
		}
		fill(filepath.Join(root, theirs))
		require.NoError(t, r.MkdirAll(mine+"/.git", 0o755))
		own, err := os.Open(filepath.Join(root, mine)) // wherever it is
		require.NoError(t, err)
		defer own.Close()
		stood, err := os.Open(filepath.Join(root, theirs))
		require.NoError(t, err)
		defer stood.Close()
		held := func(f *os.File) string { return filepath.Join("/proc/self/fd", strconv.Itoa(int(f.Fd()))) }
		before = contents(t, held(stood))
		fill(held(own))
		require.NoError(t, c.do(r, mine+"/.git/"), c.name)
		for range rounds {
			fill(held(own))
			var wg sync.WaitGroup
			wg.Go(func() { _ = r.Rename(mine, theirs, pathresolver.RenameExchange) })
			if c.do(r, mine+"/.git/") == nil {
				worked++
			}
			wg.Wait()
		}
		return worked, before, contents(t, held(stood))
	}
	for _, c := range changes {
		for _, walker := range []bool{false, true} {
			worked, before, after := race(t, pathresolver.Config{ForceWalker: walker}, c)
			require.Equal(t, before, after, "%s changed what stood there", c.name)
			t.Logf("%s: %d of %d were done, none in the other one", c.name, worked, rounds)
		}
		_, before, after := race(t, pathresolver.Config{Unprotect: []string{".git"}}, c)
		require.NotEqual(t, before, after, "%s is not done where nobody decides", c.name)
	}
}

// contents are the files of a tree with what is in them, and their modes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir+"/.", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(p)
			found[p] = info.Mode().String() + " " + string(text)
		} else {
			found[p] = info.Mode().String()
		}
		return err
	}))
	return found
}
