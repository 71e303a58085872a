//go:build linux && !portable

package pathresolver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// gitScene has repositories that stood there: the project's, one in a directory,
// and a bare one.
var gitScene = []string{
	".git/HEAD = ref: refs/heads/main", ".git/config = c", ".git/hooks/", ".git/refs/heads/", ".git/objects/info/", ".git/info/", ".git/index = i",
	"deep/er/own/.git/HEAD = h", "deep/er/own/.git/config = c", "deep/er/own/.git/hooks/pre-commit = x", "deep/er/own/.git/rebase-merge/git-rebase-todo = pick",
	"deep/bare.git/HEAD = h", "deep/bare.git/config = c", "deep/bare.git/hooks/", "deep/bare.git/objects/", "deep/bare.git/refs/",
	"tree/.git = gitdir: ../.git/worktrees/tree", ".git/worktrees/tree/HEAD = h", "victim == ../outside/victim",
}

// Each of these acted when git on the host ran the next time: what the operator's
// git writes went where a link led, git waited for a FIFO, or ran what the
// configuration or a hook said. Without the rules each of them works.
func TestGitDirectories(t *testing.T) {
	attacks := []struct {
		name string
		rule pathresolver.Rule
		do   func(r *pathresolver.Resolver) error
	}{
		{"a link at a name that git writes", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error { return r.Symlink("/outside", ".git/COMMIT_EDITMSG") }},
		{"a link in a directory of git's", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error { return r.Symlink("/outside", ".git/refs/heads/x") }},
		{"a link in a repository that stood there", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error { return r.Symlink("/x", "deep/er/own/.git/MERGE_MSG") }},
		{"a link in a bare one", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error { return r.Symlink("/x", "deep/bare.git/packed-refs.lock") }},
		{"a link moved there", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error {
			return r.Rename("link", ".git/FETCH_HEAD", pathresolver.RenameReplace)
		}},
		{"a FIFO moved there", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error {
			return r.Rename("fifo", ".git/ORIG_HEAD", pathresolver.RenameReplace)
		}},
		{"a directory with a link in it moved there", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error {
			return r.Rename("full", ".git/logs", pathresolver.RenameReplace)
		}},
		{"a directory with a link in it exchanged", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error {
			return r.Rename("full", ".git/refs", pathresolver.RenameExchange)
		}},
		{"a second name for a file of the project", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error { return r.Link("src/x", ".git/MERGE_MSG") }},
		{"a file with another name elsewhere moved there", pathresolver.RuleHardLink, func(r *pathresolver.Resolver) error {
			return r.Rename("victim", ".git/COMMIT_EDITMSG", pathresolver.RenameReplace)
		}},
		{"a second name for the index, to write it by", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error { return r.Link(".git/index", "src/index") }},
		{"an index written in place", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error { return r.WriteFile(".git/index", []byte("DIRC"), 0o644) }},
		{"an index moved there", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error {
			return r.Rename("src/x", ".git/index", pathresolver.RenameReplace)
		}},
		{"the configuration of a repository that stood there", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile("deep/er/own/.git/config", nil, 0o644)
		}},
		{"its hooks, in another spelling", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.Rename("deep/er/own/.git/hooks", "h", pathresolver.RenameReplace)
		}},
		{"its rebase", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile("deep/er/own/.git/rebase-merge/git-rebase-todo", []byte("exec x"), 0o644)
		}},
		{"the repository itself", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.Rename("deep/er/own/.git", "g", pathresolver.RenameReplace)
		}},
		{"a hook of a bare one", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile("deep/bare.git/hooks/post-update", nil, 0o755)
		}},
		{"the configuration of a bare one", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error { return r.WriteFile("deep/bare.git/config", nil, 0o644) }},
		{"alternates", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/objects/info/alternates", nil, 0o644)
		}},
		{"alternates by their directory", pathresolver.RuleLoosens, func(r *pathresolver.Resolver) error {
			return r.Rename("full", ".git/objects/info", pathresolver.RenameExchange)
		}},
		{"attributes", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error { return r.WriteFile(".git/info/attributes", nil, 0o644) }},
		{"a remote, the old way", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error { return r.MkdirAll(".git/remotes", 0o755) }},
		{"the work tree of somebody else", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/worktrees/tree/HEAD", nil, 0o644)
		}},
		{"where that is", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error { return r.WriteFile("tree/.git", nil, 0o644) }},
		{"a file .git that names a repository elsewhere", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error {
			return r.WriteFile("src/.git", []byte("gitdir: /home/me/.git"), 0o644)
		}},
		{"a directory that becomes a repository", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error { return r.WriteFile("src/HEAD", []byte("ref: x"), 0o644) }},
	}
	plant := func(t *testing.T, root string) {
		tree(t, root, "link => /outside", "full/l => /outside")
		require.NoError(t, unix.Mkfifo(filepath.Join(root, "fifo"), 0o644))
	}
	_, root := scene(t, gitScene...)
	plant(t, root)
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		for _, a := range attacks {
			t.Run(a.name, func(t *testing.T) { denied(t, a.do(r), a.rule) })
		}
	})
	for _, a := range attacks {
		_, root := scene(t, gitScene...)
		plant(t, root)
		r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Unprotect: append(pathresolver.DefaultProtected(), ".git")})
		require.NoError(t, err)
		require.NoError(t, a.do(r), "%s works without the rules", a.name)
		require.NoError(t, r.Close())
	}
}

// What git does by itself works, and what is no git directory has no such rules.
func TestGitDirectoriesAtWork(t *testing.T) {
	_, root := scene(t, gitScene...)
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		do := func(err error) {
			t.Helper()
			require.NoError(t, err)
		}
		for _, dir := range []string{".git", "deep/er/own/.git", "deep/bare.git"} {
			do(r.WriteFile(dir+"/HEAD.lock", nil, 0o644))
			do(r.Rename(dir+"/HEAD.lock", dir+"/HEAD", pathresolver.RenameReplace))
			do(r.MkdirAll(dir+"/refs/heads/a", 0o755))
			do(r.WriteFile(dir+"/refs/heads/a/config", nil, 0o644))
			do(r.MkdirAll(dir+"/objects/ab", 0o755))
			do(r.WriteFile(dir+"/objects/ab/tmp", nil, 0o444))
			do(r.Link(dir+"/objects/ab/tmp", dir+"/objects/ab/cd"))
			do(r.Remove(dir + "/objects/ab/tmp"))
			do(r.RemoveAll(dir + "/refs/heads/a"))
			do(r.RemoveAll(dir + "/objects/ab"))
		}
		// A work tree, and a repository of the caller's own.
		do(r.MkdirAll(".git/worktrees/new", 0o755))
		do(r.WriteFile(".git/worktrees/new/HEAD", nil, 0o644))
		denied(t, r.WriteFile(".git/worktrees/new/commondir", []byte("/evil"), 0o644), pathresolver.RuleGitContent)
		do(r.RemoveAll(".git/worktrees/new"))
		do(r.MkdirAll("src/r/.git/hooks", 0o755))
		do(r.WriteFile("src/r/.git/hooks/pre-commit.sample", nil, 0o755))
		do(r.WriteFile("src/r/.git/HEAD", nil, 0o644))
		denied(t, r.WriteFile("src/r/.git/hooks/pre-commit", nil, 0o755), pathresolver.RuleGitContent)
		denied(t, r.Rename("src/r/.git/hooks/pre-commit.sample", "src/r/.git/hooks/pre-commit", pathresolver.RenameReplace), pathresolver.RuleProtected)
		denied(t, r.WriteFile("src/r/.git/config", nil, 0o644), pathresolver.RuleGitContent)
		denied(t, r.Symlink("/x", "src/r/.git/x"), pathresolver.RuleGitDir)
		// Names of submodules and work trees that mean something themselves.
		for _, name := range []string{"modules/refs", "modules/hooks", "modules/a/logs", "modules/info"} {
			do(r.MkdirAll("src/r/.git/"+name, 0o755))
			denied(t, r.WriteFile("src/r/.git/"+name+"/config", nil, 0o644), pathresolver.RuleGitContent)
			denied(t, r.WriteFile("src/r/.git/"+name+"/index", nil, 0o644), pathresolver.RuleGitContent)
			denied(t, r.MkdirAll("src/r/.git/"+name+"/remotes/x", 0o755), pathresolver.RuleProtected)
		}
		do(r.MkdirAll("src/r/.git/worktrees/refs", 0o755))
		denied(t, r.WriteFile("src/r/.git/worktrees/refs/index", nil, 0o644), pathresolver.RuleGitContent)
		do(r.Rename("src/r", "src/r2", pathresolver.RenameReplace))
		do(r.RemoveAll("src/r2"))
		do(r.MkdirAll("src/b.git/objects", 0o755))
		do(r.WriteFile("src/b.git/HEAD", nil, 0o644))
		do(r.RemoveAll("src/b.git"))
		// Names that mean something in git directories only.
		for _, p := range []string{"src/config", "src/hooks/useX.ts", "src/index", "src/info/attributes", "src/branches/x", "src/modules/m/config", "src/worktrees/w/commondir2"} {
			do(r.MkdirAll(filepath.Dir(p), 0o755))
			do(r.WriteFile(p, nil, 0o755))
			do(r.Remove(p))
		}
		do(r.Symlink("x", "src/l"))
		do(r.Rename("src/l", "src/hooks/l", pathresolver.RenameReplace))
		do(r.RemoveAll("src/hooks"))
	})
}

// A bare repository is opened by Git as far as git itself writes it.
func TestGitInABareRepository(t *testing.T) {
	_, root := scene(t, "HEAD = ref: refs/heads/m", "objects/", "refs/", "config = c")
	require.Empty(t, pathresolver.Validate(pathresolver.Config{Root: root, Git: true, WritePaths: []string{"."}}), "both say the same")
	modes(t, pathresolver.Config{Root: root, Git: true}, func(t *testing.T, r *pathresolver.Resolver) {
		require.NoError(t, r.WriteFile("HEAD", []byte("ref: refs/heads/n"), 0o644))
		require.NoError(t, r.WriteFile("packed-refs", nil, 0o644))
		denied(t, r.WriteFile("config", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.MkdirAll("hooks", 0o755), pathresolver.RuleProtected)
		denied(t, r.Symlink("/x", "FETCH_HEAD"), pathresolver.RuleGitDir)
		denied(t, r.Symlink("/x", "refs/x"), pathresolver.RuleGitDir)
		require.NoError(t, r.Remove("packed-refs"))
	})
}

// MoveChecked publishes a copy that nobody else has open.
func TestMoveChecked(t *testing.T) {
	_, root := scene(t, gitScene...)
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}})
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.MkdirAll("new/.git", 0o755))
	move := func(content, to string) error {
		from := to + ".lock"
		require.NoError(t, os.WriteFile(filepath.Join(root, from), []byte(content), 0o644))
		held, err := os.OpenFile(filepath.Join(root, from), os.O_WRONLY, 0)
		require.NoError(t, err)
		defer held.Close()
		dir, err := r.OpenPlace(filepath.Dir(to), unix.O_PATH|unix.O_DIRECTORY, 0)
		require.NoError(t, err)
		defer unix.Close(dir)
		if err := r.MoveChecked(dir, filepath.Base(from), dir, filepath.Base(to), to, false); err != nil {
			_, gone := os.Stat(filepath.Join(root, from))
			require.NoError(t, gone, "what is refused stays")
			return err
		}
		_, err = held.WriteString("EVIL")
		require.NoError(t, err)
		now, err := os.ReadFile(filepath.Join(root, to))
		require.NoError(t, err)
		require.NotContains(t, string(now), "EVIL", "who has the file open changes nothing that was checked")
		return nil
	}
	denied(t, move("no index", ".git/index"), pathresolver.RuleGitContent)
	empty := "DIRC\x00\x00\x00\x02\x00\x00\x00\x00" + strings.Repeat("\x00", 20)
	require.NoError(t, move(empty, ".git/index"))
	// The word alone does not make it a repository of the other format.
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte("[remote \"sha256\"]\n\turl = ../sha256\n"), 0o644))
	require.NoError(t, move(empty, ".git/index"))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte("[extensions]\n\tobjectFormat = SHA256\n"), 0o644))
	denied(t, move(empty, ".git/index"), pathresolver.RuleGitContent)
	require.NoError(t, move(empty+strings.Repeat("\x00", 12), ".git/index"))
	require.NoError(t, move("[core]\n\tbare = false\n[remote \"o\"]\n\turl = ../x\n\tfetch = +a:b\n", "new/.git/config"))
	for _, bad := range []string{"[core]\nfsmonitor = x", "[include]\npath = x", "[core]\nhooksPath = x", "[alias]\na = !x", "[filter \"x\"]\nclean = x",
		"[core]\nworktree = /etc", "[remote \"o\"]\nurl = ext::sh", "[core", "[core]\nbare=false # sha256"} {
		d := denied(t, move(bad, "new/.git/config"), pathresolver.RuleGitContent)
		require.Contains(t, d.Reason, "configuration of a repository that was made here")
	}
}

func TestGitText(t *testing.T) {
	_, root := scene(t, gitScene...)
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}})
	require.NoError(t, err)
	defer r.Close()
	for text, ok := range map[string]bool{
		"gitdir: " + root + "/.git/worktrees/w\n": true, "gitdir: ../../.git/modules/a/b": true,
		"gitdir: /home/me/.git": false, "gitdir: ../../.git": false, "gitdir: ../../.git/worktrees/../x": false,
		"gitdir: " + root + "/.git/worktrees/w\nx": false, "gitdir: ../other/.git/worktrees/w": false, "x": false, "": false,
		"gitdir: " + root + "//.git/worktrees/w": false, "gitdir: ../../.git/objects/x": false,
	} {
		require.Equal(t, ok, r.CheckGitText("src/wt/.git", []byte(text)) == nil, "%q", text)
	}
}

// What git's configuration names is as good as a hook: protected where it lies,
// whether or not it is there yet, with the line that names it.
func TestConfiguredByGit(t *testing.T) {
	_, root := scene(t, gitScene...)
	config := "[core]\n\thooksPath = .husky\n[include]\n\tpath = ../inc/git.inc\n[filter \"x\"]\n\tclean = sh tools/clean.sh %f\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte(config), 0o644))
	tree(t, root, "tools/clean.sh = x", "real/", ".husky => real", "tools/other = x")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		d := denied(t, r.WriteFile("tools/clean.sh", nil, 0o755), pathresolver.RuleProtected)
		require.Contains(t, d.Origin, "filter.x.clean (.git/config:6)")
		denied(t, r.WriteFile("inc/git.inc", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.MkdirAll("inc/git.inc", 0o755), pathresolver.RuleProtected)
		denied(t, r.WriteFile("real/pre-commit", nil, 0o755), pathresolver.RuleProtected)
		denied(t, r.Remove(".husky"), pathresolver.RuleProtected)
		denied(t, r.Rename("tools", "tools2", pathresolver.RenameReplace), pathresolver.RuleLoosens)
		require.NoError(t, r.WriteFile("tools/other", nil, 0o644))
	})
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Unprotect: []string{".git"}})
	require.NoError(t, err)
	require.NoError(t, r.WriteFile("tools/clean.sh", nil, 0o755), "without the rule it works")
	require.NoError(t, r.Close())

	require.NoError(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte("[core\n\thooksPath = x\n"), 0o644))
	found := pathresolver.Validate(pathresolver.Config{Root: root, WritePaths: []string{"."}})
	require.Len(t, found, 1)
	require.Equal(t, pathresolver.CodeGitUnclear, found[0].Code)
	require.Contains(t, found[0].Message, "1")
	require.Empty(t, pathresolver.Validate(pathresolver.Config{Root: root}), "who writes nothing need not know")
}

// A git directory that a file .git names elsewhere in the project has the same
// rules, and is what Git opens.
func TestGitDirectoryElsewhereInTheProject(t *testing.T) {
	_, root := scene(t, ".git = gitdir: meta/store", "meta/store/HEAD = ref: refs/heads/m", "meta/store/config = ", "meta/store/objects/", "meta/store/refs/", "meta/store/hooks/")
	t.Setenv("HOME", t.TempDir())
	modes(t, pathresolver.Config{Root: root, Git: true}, func(t *testing.T, r *pathresolver.Resolver) {
		require.Equal(t, []string{"meta/store"}, r.WritePaths())
		require.NoError(t, r.WriteFile("meta/store/ORIG_HEAD", nil, 0o644))
		denied(t, r.WriteFile("meta/store/config", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.WriteFile("meta/store/hooks/pre-commit", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.Symlink("/x", "meta/store/MERGE_MSG"), pathresolver.RuleGitDir)
		denied(t, r.WriteFile(".git", nil, 0o644), pathresolver.RuleProtected)
	})
}
