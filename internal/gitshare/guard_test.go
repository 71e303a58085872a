package gitshare

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

const hash = "1111111111111111111111111111111111111111"

// shared is a git directory with a worktree "wt" on refs/heads/topic.
func shared(t *testing.T, entries ...string) *Repo {
	t.Helper()
	dir := t.TempDir()
	for _, e := range append([]string{
		"HEAD", "config", "objects/", "refs/heads/main", "refs/heads/topic", "refs/tags/v0", "refs/remotes/origin/main", "logs/refs/heads/main",
		"worktrees/wt/HEAD", "worktrees/other/HEAD",
	}, entries...) {
		name, text, _ := strings.Cut(e, " = ")
		at := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(at, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	r, err := Reopen(dir, "wt", "refs/heads/topic")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

const (
	create = access.OpCreate
	write  = access.OpWrite
	remove = access.OpDelete
	rename = access.OpRename
	link   = access.OpLink
	meta   = access.OpMeta
)

func TestGuard(t *testing.T) {
	packed := "packed-refs = # pack-refs with: peeled fully-peeled sorted\n" +
		hash + " refs/heads/packed\n" + hash + " refs/heads/deep/one/two\n^" + hash + "\n" + hash + " refs/tags/v1\n"
	g := newGuard(shared(t, packed, "refs/heads/feature/old", "refs/heads/busy.lock", "logs/refs/heads/logged"))
	refused := func(op access.Op, place string) {
		t.Helper()
		require.NotEmpty(t, g.restrict(op, place, 0), "%s %s", op, place)
	}
	agreed := func(op access.Op, place string) {
		t.Helper()
		require.Empty(t, g.restrict(op, place, 0), "%s %s", op, place)
	}
	// What is the worktree's own.
	for _, place := range []string{
		"objects/ab/cd", "worktrees/wt/index", "worktrees/wt/rebase-merge/done", "refs/heads/topic", "refs/heads/topic.lock", "logs/refs/heads/topic",
		"refs/stash", "refs/stash.lock", "logs/refs/stash", "refs/remotes/origin/main", "logs/refs/remotes/origin/main", "gc.pid",
	} {
		for _, op := range []access.Op{create, write, remove, rename, meta} {
			agreed(op, place)
		}
	}
	// What is everybody's, or another's.
	for _, place := range []string{
		"HEAD", "HEAD.lock", "config", "index", "hooks", "hooks/x", "info/exclude", "new", "refs", "logs", "logs/HEAD", "worktrees", "worktrees/wt", "modules/x/HEAD",
		"refs/heads", "refs/heads/main", "refs/heads/main.lock", "logs/refs/heads/main", "logs/refs/heads/main.lock", "refs/tags/v0",
		"refs/heads/packed", "refs/heads/packed.lock", "logs/refs/heads/packed", "refs/heads/Packed", "refs/tags/v1", "refs/heads/deep/one/two",
		"refs/heads/feature", "refs/heads/feature/old", "refs/heads/busy", "refs/heads/busy.lock", "refs/heads/logged",
		"refs/replace/" + hash, "refs/Replace/" + hash, "refs/bisect/bad", "refs/worktree/x", "refs/rewritten/x", "refs/replace",
		"worktrees/other", "worktrees/other/HEAD", "worktrees/other/new",
	} {
		for _, op := range []access.Op{create, write, remove, rename, link} {
			refused(op, place)
		}
	}
	// What is new is the run's from then on, with its lock and its log.
	for _, ref := range []string{"refs/heads/new", "refs/tags/v2", "refs/heads/feature/new", "refs/notes/commits"} {
		refused(write, ref)
		refused(remove, ref)
		agreed(create, ref+".lock")
		agreed(create, "logs/"+ref)
		agreed(rename, ref+".lock")
		agreed(rename, ref)
		agreed(write, ref)
		agreed(remove, "logs/"+ref)
		agreed(remove, ref)
	}
	agreed(create, "worktrees/mine")
	agreed(create, "worktrees/mine/HEAD")
	agreed(remove, "worktrees/mine")
	agreed(create, "packed-refs.lock")
	agreed(remove, "packed-refs.lock")

	// Who writes packed-refs changes any ref.
	for _, op := range []access.Op{create, write, remove, rename, link, meta} {
		refused(op, "packed-refs")
		refused(op, "packed-refs.new")
	}
	require.Contains(t, g.restrict(rename, "packed-refs", 0), "git update-ref -d")

	// A directory moved to a name brings what it holds.
	refused(rename, "refs/heads/deep")
	agreed(create, "refs/heads/deep") // a directory: what is made in it is asked about
	refused(rename, "refs/heads/deep")
	refused(create, "refs/heads/deep/one/two")
	agreed(create, "refs/heads/deep/three")
	agreed(create, "refs/heads/dir")
	require.NoError(t, os.Mkdir(filepath.Join(g.repo.Dir, "refs/heads/dir"), 0o755))
	refused(rename, "refs/heads/dir")
}

// TestGuardLogs: where no ref has a log yet, as in a bare repository, the
// directories that lead to one are made, and nothing else of their names.
func TestGuardLogs(t *testing.T) {
	r := shared(t, "refs/heads/feature/old")
	require.NoError(t, os.RemoveAll(filepath.Join(r.Dir, "logs")))
	g := newGuard(r)
	for _, place := range []string{"logs", "logs/refs", "logs/refs/heads", "logs/refs/heads/feature", "logs/refs/remotes"} {
		require.NotEmpty(t, g.restrict(create, place, 0), place)
		require.Empty(t, g.restrict(create, place, fs.ModeDir), place)
		require.NoError(t, os.Mkdir(filepath.Join(r.Dir, place), 0o755))
		for _, op := range []access.Op{create, remove, rename, meta} {
			require.NotEmpty(t, g.restrict(op, place, fs.ModeDir), "%s %s", op, place)
		}
	}
	require.NotEmpty(t, g.restrict(create, "logs/refs/heads/main", fs.ModeDir))
	require.NotEmpty(t, g.restrict(create, "logs/HEAD", 0))
	require.Empty(t, g.restrict(create, "logs/refs/heads/topic", 0))
}

// TestGuardDuring: what others make while the run goes on is theirs.
func TestGuardDuring(t *testing.T) {
	r := shared(t)
	g := newGuard(r)
	at := func(place string) string { return filepath.Join(r.Dir, place) }
	require.Empty(t, g.restrict(create, "refs/heads/a", 0), "it is not there yet")
	require.NoError(t, os.WriteFile(at("refs/heads/b"), []byte(hash), 0o644))
	require.NotEmpty(t, g.restrict(write, "refs/heads/b", 0))
	require.NotEmpty(t, g.restrict(rename, "refs/heads/b", 0))
	require.NoError(t, os.Mkdir(at("worktrees/theirs"), 0o755))
	require.NotEmpty(t, g.restrict(create, "worktrees/theirs/HEAD", 0))

	// git replaces packed-refs, and removes what it packed.
	require.NoError(t, os.WriteFile(at("packed-refs.new"), []byte(hash+" refs/heads/b\n"+hash+" refs/heads/a\n"), 0o644))
	require.NoError(t, os.Rename(at("packed-refs.new"), at("packed-refs")))
	require.NoError(t, os.Remove(at("refs/heads/b")))
	require.NotEmpty(t, g.restrict(create, "refs/heads/b.lock", 0))
	require.Empty(t, g.restrict(create, "refs/heads/a.lock", 0), "the run made it, wherever it is kept")
	require.NoError(t, os.Remove(at("packed-refs")))
	require.Empty(t, g.restrict(create, "refs/heads/b.lock", 0), "deleted, it may be made again")
}

// TestGuardWithoutPackedRefs: where that cannot be read any name may be taken.
func TestGuardWithoutPackedRefs(t *testing.T) {
	for what, spoil := range map[string]func(name string) error{
		"a directory": func(name string) error { return os.Mkdir(name, 0o755) },
		"a link":      func(name string) error { return os.Symlink("refs/heads/main", name) },
		"a huge file": func(name string) error {
			return os.WriteFile(name, nil, 0o644)
		},
	} {
		r := shared(t)
		require.Empty(t, newGuard(r).restrict(create, "refs/heads/new", 0), what)
		name := filepath.Join(r.Dir, "packed-refs")
		require.NoError(t, spoil(name), what)
		if what == "a huge file" {
			require.NoError(t, os.Truncate(name, maxPacked+1))
		}
		g := newGuard(r)
		require.NotEmpty(t, g.restrict(create, "refs/heads/new", 0), what)
		require.Empty(t, g.restrict(write, "refs/heads/topic", 0), what)
	}
}

// TestGuardIsBounded: a run that makes names without end is refused some.
func TestGuardIsBounded(t *testing.T) {
	g := newGuard(shared(t))
	for i := range maxMade {
		g.made[fmt.Sprint(i)] = true
	}
	require.Contains(t, g.restrict(create, "refs/heads/new", 0), "100000 names")
	delete(g.made, "0")
	require.Empty(t, g.restrict(create, "refs/heads/new", 0))
}

// TestGuardAlone: where nobody else uses the git directory only its own
// worktrees are others'.
func TestGuardAlone(t *testing.T) {
	r := shared(t)
	alone, err := Reopen(r.Dir, "", "")
	require.NoError(t, err)
	defer alone.Close()
	g := newGuard(alone)
	require.Empty(t, g.restrict(write, "refs/heads/main", 0))
	require.Empty(t, g.restrict(write, "packed-refs", 0))
	require.NotEmpty(t, g.restrict(write, "worktrees/wt/HEAD", 0))
	require.Empty(t, g.restrict(create, "worktrees/new", 0))
	require.Empty(t, g.restrict(write, "worktrees/new/HEAD", 0))
}

// TestModules: submodules of a git directory that is the checkout's alone fetch, and
// are not led elsewhere.
func TestModules(t *testing.T) {
	r := shared(t, "modules/lib/HEAD", "modules/lib/config", "modules/lib/refs/heads/main")
	alone, err := Reopen(r.Dir, "", "")
	require.NoError(t, err)
	defer alone.Close()
	res, err := pathresolver.New(alone.Config())
	require.NoError(t, err)
	defer res.Close()
	require.NoError(t, res.MkdirAll("modules/lib/refs/remotes/origin", 0o755))
	require.NoError(t, res.WriteFile("modules/lib/refs/remotes/origin/main", []byte(hash), 0o644))
	for _, place := range []string{"modules/lib/remotes", "modules/lib/branches", "modules/remotes", "modules/lib/hooks"} {
		require.ErrorIs(t, res.MkdirAll(place, 0o755), os.ErrPermission, place)
	}
}

// TestConfig: what git would run, or be led elsewhere by, is protected.
func TestConfig(t *testing.T) {
	r := shared(t)
	res, err := pathresolver.New(r.Config())
	require.NoError(t, err)
	defer res.Close()
	for _, place := range []string{
		"config", "HEAD", "hooks/pre-commit", "packed-refs", "packed-refs.new", "worktrees/wt/gitdir", "worktrees/wt/commondir", "worktrees/wt/config.worktree",
		"worktrees/wt/locked", "worktrees/wt/modules/m/config", "objects/info/alternates", "objects/info/Alternates", "info/attributes",
		"refs/heads/main", "worktrees/other/HEAD",
	} {
		require.False(t, resolved.Explain(res, access.OpWrite, place).Allowed, place)
		require.True(t, resolved.Explain(res, access.OpRead, place).Allowed, place)
	}
	for _, place := range []string{"worktrees/wt/HEAD", "worktrees/wt/modules/m/HEAD", "objects/info/packs", "refs/heads/topic"} {
		require.True(t, resolved.Explain(res, access.OpWrite, place).Allowed, place)
	}
	alone, err := Reopen(r.Dir, "", "")
	require.NoError(t, err)
	defer alone.Close()
	own, err := pathresolver.New(alone.Config())
	require.NoError(t, err)
	defer own.Close()
	for _, place := range []string{"config", "hooks/pre-commit", "info/attributes", "objects/info/alternates", "commondir", "modules/m/hooks/x", "modules/m/config"} {
		require.False(t, resolved.Explain(own, access.OpWrite, place).Allowed, place)
	}
	for _, place := range []string{"HEAD", "ORIG_HEAD", "packed-refs.lock", "refs/heads/main"} {
		require.True(t, resolved.Explain(own, access.OpWrite, place).Allowed, place)
	}
}
