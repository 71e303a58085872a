//go:build linux && !portable

package pathresolver_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// gitScene has repositories that stood there: the project's, one in a directory,
// and a bare one.
var gitScene = []string{
	".git/HEAD = ref: refs/heads/main", ".git/config = c", ".git/hooks/", ".git/refs/heads/", ".git/objects/info/", ".git/info/", ".git/index = i",
	"deep/er/own/.git/HEAD = h", "deep/er/own/.git/config = c", "deep/er/own/.git/hooks/pre-commit = x", "deep/er/own/.git/rebase-merge/git-rebase-todo = pick",
	"deep/bare.git/HEAD = h", "deep/bare.git/config = c", "deep/bare.git/hooks/", "deep/bare.git/objects/", "deep/bare.git/refs/",
	"tree/.git = gitdir: ../.git/worktrees/tree", ".git/worktrees/tree/HEAD = h", "victim == ../outside/victim",
	".git/reftable/", "deep/bare.git/reftable/", ".git/index.lock = l", ".git/modules/lib/HEAD = h", ".git/modules/lib/rebase-merge/git-rebase-todo = pick",
}

// Each of these acted when git on the host ran the next time: what the operator's
// git writes went where a link led, git waited for a FIFO, or ran what the
// configuration or a hook said. Without the rules each of them works.
func TestGitDirectories(t *testing.T) {
	trees := 0
	newTree := func() string {
		trees++
		return fmt.Sprintf(".git/worktrees/new%d", trees)
	}
	attacks := []struct {
		name string
		rule access.Code
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
		{"alternates by their directory", pathresolver.RuleEscapes, func(r *pathresolver.Resolver) error {
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
		{"what rerere copies from and to", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/MERGE_RR", []byte("1111\t/home/me/.ssh/id\x00"), 0o644)
		}},
		{"rerere turned on", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error { return r.MkdirAll(".git/rr-cache", 0o755) }},
		{"the settings of lazygit", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/lazygit.yml", []byte("git: {paging: {pager: x}}"), 0o644)
		}},
		{"the settings of lazygit for a bare one", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile("deep/bare.git/lazygit.yml", nil, 0o644)
		}},
		{"the directory by which shells trust a work tree's programs", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error { return r.MkdirAll(".git/safe", 0o755) }},
		{"what the next commit applies", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/MERGE_AUTOSTASH", []byte("1111"), 0o644)
		}},
		{"other content for an object", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.MkdirAll(".git/refs/replace", 0o755)
		}},
		{"packed refs in place", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/packed-refs", []byte("1111 refs/replace/2222\n"), 0o644)
		}},
		{"the list of a reftable's tables in place", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/reftable/tables.list", []byte("../../../other/.git/reftable/0x1-0x1-a.ref\n"), 0o644)
		}},
		{"the list of a bare repository's", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error {
			return r.Rename("src/x", "deep/bare.git/reftable/tables.list", pathresolver.RenameReplace)
		}},
		{"HEAD removed, so that git works on a repository above", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error { return r.Remove(".git/HEAD") }},
		{"HEAD moved away", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error {
			return r.Rename(".git/HEAD", "src/head", pathresolver.RenameReplace)
		}},
		{"a repository beneath a git directory", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error {
			return r.MkdirAll(".git/x/.git/hooks", 0o755)
		}},
		{"a directory that was filled under another name and becomes a rebase", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error {
			trees++
			dir := fmt.Sprintf(".git/q%d", trees)
			if err := r.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			return r.Rename(dir, ".git/rebase-apply", pathresolver.RenameReplace)
		}},
		{"a FIFO's second name, which git opens everywhere", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error { return r.Link("fifo", "src/.gitignore") }},
		{"a file moved to where a git elsewhere makes its lock", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.Rename("src/x", ".git/packed-refs.lock", pathresolver.RenameReplace)
		}},
		{"a directory moved out of a git directory", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error {
			return r.Rename(".git/refs/heads", "src/heads", pathresolver.RenameReplace)
		}},
		{"a lock of a git elsewhere written", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/index.lock", []byte("DIRC"), 0o644)
		}},
		{"a lock of a git elsewhere removed", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error { return r.Remove(".git/index.lock") }},
		{"a lock of a git elsewhere replaced", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.Rename("src/x", ".git/index.lock", pathresolver.RenameReplace)
		}},
		{"the configuration's lock", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/config.lock", nil, 0o644)
		}},
		{"how far a rebase is, which prompts show", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error {
			tree := newTree()
			if err := errors.Join(r.MkdirAll(tree, 0o755), r.MkdirAll(tree+"/rebase-merge", 0o755)); err != nil {
				return err
			}
			return r.WriteFile(tree+"/rebase-merge/msgnum", []byte("$(touch ran)"), 0o644)
		}},
		{"the rebase of a submodule", pathresolver.RuleProtected, func(r *pathresolver.Resolver) error {
			return r.WriteFile(".git/modules/lib/rebase-merge/git-rebase-todo", []byte("exec x"), 0o644)
		}},
		{"a submodule's configuration in a work tree of its own", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error {
			tree := newTree()
			if err := errors.Join(r.MkdirAll(tree, 0o755), r.MkdirAll(tree+"/modules/lib", 0o755)); err != nil {
				return err
			}
			return r.WriteFile(tree+"/modules/lib/config", nil, 0o644)
		}},
		{"where a work tree of its own is", pathresolver.RuleGitContent, func(r *pathresolver.Resolver) error {
			tree := newTree()
			if err := r.MkdirAll(tree, 0o755); err != nil {
				return err
			}
			return r.WriteFile(tree+"/gitdir", []byte("/home/me/.git"), 0o644)
		}},
		{"a FIFO at a name that git opens everywhere", pathresolver.RuleGitDir, func(r *pathresolver.Resolver) error {
			return r.Rename("fifo", "src/.gitignore", pathresolver.RenameReplace)
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
		do(r.MkdirAll(".git/modules/safe/refs", 0o755)) // a submodule of this name
		do(r.WriteFile(".git/modules/safe/refs/x", nil, 0o644))
		do(r.RemoveAll(".git/modules/safe"))
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
		denied(t, r.WriteFile("src/r/.git/lazygit.yml", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.MkdirAll("src/r/.git/safe", 0o755), pathresolver.RuleProtected)
		// Names of submodules and work trees that mean something themselves.
		for _, name := range []string{"modules/refs", "modules/hooks", "modules/safe", "modules/a/logs", "modules/info"} {
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
		require.NoError(t, r.WriteFile("description", nil, 0o644))
		denied(t, r.WriteFile("config", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.MkdirAll("hooks", 0o755), pathresolver.RuleProtected)
		denied(t, r.Symlink("/x", "FETCH_HEAD"), pathresolver.RuleGitDir)
		denied(t, r.Symlink("/x", "refs/x"), pathresolver.RuleGitDir)
		require.NoError(t, r.Remove("description"))
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
	// git removes the tables that the list names once it has written one in their place.
	for _, list := range []string{".git/reftable/tables.list", ".git/modules/lib/reftable/tables.list", ".git/worktrees/tree/reftable/tables.list"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(list)), 0o755))
		require.NoError(t, move("0x000000000001-0x000000000002-37031e8c.ref\n0x000000000003-0x000000000003-00000000.ref\n", list))
		require.NoError(t, move("", list))
		for _, bad := range []string{"../../../other/.git/reftable/0x000000000001-0x000000000002-37031e8c.ref\n", "..\n", "/etc/x.ref", "a.ref\x00/x\n", "a.ref\n\nb.ref\n"} {
			denied(t, move(bad, list), pathresolver.RuleGitContent)
		}
	}
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
	// The way back: "git worktree repair" writes to what it names.
	for text, ok := range map[string]bool{
		root + "/src/wt/.git\n": true, "../../../src/wt/.git": true,
		"/home/me/.git": false, root + "/../me/.git": false, root + "/src/wt": false, root + "/.git/x/.git": false,
		root + "/src/.git/wt/.git": false, "../../../../me/.git": false, root + "/src/wt/.git\nx": false,
		root + "/tree/.git": false, // somebody else's
		root + "//src/.git": false, root + "/../../.git": false, "": false,
	} {
		require.Equal(t, ok, r.CheckGitText(".git/worktrees/w/gitdir", []byte(text)) == nil, "%q", text)
	}
	for text, ok := range map[string]bool{"3": true, "12\n": true, "": true, "$(x)": false, "3\n$(x)": false, "-1": false} {
		require.Equal(t, ok, r.CheckGitText(".git/rebase-merge/msgnum", []byte(text)) == nil, "%q", text)
		require.Equal(t, ok, r.CheckGitText(".git/worktrees/w/modules/lib/rebase-apply/next", []byte(text)) == nil, "%q", text)
	}
}

// What configuration names and is not there yet is not led to by a link that takes
// the place of a directory above it; and a repository above the root, in whose work
// tree it lies, has its configuration looked at as well.
func TestConfiguredByGitAbove(t *testing.T) {
	_, root := scene(t, append([]string{"src/evil/git/x = x", "fe/app/"}, gitScene...)...)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	config := "[include]\n\tpath = ../conf/git/x\n[core]\n\thooksPath = fe/hooks\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte(config), 0o644))
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		d := denied(t, r.Symlink("src/evil", "conf"), pathresolver.RuleProtected)
		require.Contains(t, d.Reason, "include.path")
		require.NoError(t, r.Symlink("evil", "src/link"))
		denied(t, r.Rename("src/link", "conf", pathresolver.RenameReplace), pathresolver.RuleEscapes)
		require.NoError(t, r.Remove("src/link"))
		require.NoError(t, r.MkdirAll("conf", 0o755))
		denied(t, r.Symlink("../src/evil/git", "conf/git"), pathresolver.RuleProtected)
		require.NoError(t, r.Symlink("../src/evil/git", "src/link"))
		denied(t, r.Link("src/link", "conf/git"), pathresolver.RuleProtected)
		require.NoError(t, r.Remove("src/link"))
		require.NoError(t, r.Symlink("../src", "conf/other"))
		require.NoError(t, r.RemoveAll("conf/other"))
		require.NoError(t, r.Remove("conf"))
	})
	below := filepath.Join(root, "fe")
	modes(t, pathresolver.Config{Root: below, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		d := denied(t, r.MkdirAll("hooks", 0o755), pathresolver.RuleProtected)
		require.Contains(t, d.Origin, "core.hookspath")
		require.NoError(t, r.WriteFile("app/a", nil, 0o644))
	})
	r, err := pathresolver.New(pathresolver.Config{Root: below, WritePaths: []string{"."}, Unprotect: []string{".git"}})
	require.NoError(t, err)
	require.NoError(t, r.MkdirAll("hooks", 0o755), "without the rule it works")
	require.NoError(t, r.Close())
}

// The bytes of an index mean other paths where names of objects are longer.
func TestObjectFormatStays(t *testing.T) {
	_, root := scene(t, "src/x = x")
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}})
	require.NoError(t, err)
	defer r.Close()
	const sha256 = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	configure := func(dir, text string) error {
		require.NoError(t, r.WriteFile("src/x", []byte(text), 0o644))
		fd, err := r.OpenPlace("src", unix.O_PATH|unix.O_DIRECTORY, 0)
		require.NoError(t, err)
		defer unix.Close(fd)
		to, err := r.OpenPlace(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
		require.NoError(t, err)
		defer unix.Close(to)
		return r.MoveChecked(fd, "x", to, "config", dir+"/config", false)
	}
	require.NoError(t, r.MkdirAll("new/.git", 0o755))
	require.NoError(t, configure("new/.git", "[core]\n\tbare = false\n"))
	require.NoError(t, configure("new/.git", sha256), "before there is an index")
	require.NoError(t, os.WriteFile(filepath.Join(root, "new/.git/index"), nil, 0o644))
	require.NoError(t, configure("new/.git", sha256+"[user]\n\tname = x\n"), "it stays what it is")
	denied(t, configure("new/.git", "[core]\n\tbare = false\n"), pathresolver.RuleGitContent)
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
		denied(t, r.Rename("tools", "tools2", pathresolver.RenameReplace), pathresolver.RuleEscapes)
		require.NoError(t, r.WriteFile("tools/other", nil, 0o644))
	})
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Unprotect: []string{".git"}})
	require.NoError(t, err)
	require.NoError(t, r.WriteFile("tools/clean.sh", nil, 0o755), "without the rule it works")
	require.NoError(t, r.Close())

	require.NoError(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte("[core\n\thooksPath = x\n"), 0o644))
	found := pathresolver.Validate(pathresolver.Config{Root: root, WritePaths: []string{"."}})
	require.Len(t, found, 1)
	require.Equal(t, access.Code("git_unclear"), found[0].Code)
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

// Links that stand there before are followed by programs of the host: a hook that is
// one, and a name that a program trusts.
func TestLinksThatStoodThere(t *testing.T) {
	_, root := scene(t, ".git/HEAD = ref: refs/heads/main", ".git/objects/", ".git/refs/", ".git/hooks/", "scripts/pre-commit = x", "scripts/other = x",
		"tools/vscode/tasks.json = x", "cfg/settings.json = x", ".claude/", "src/")
	for link, to := range map[string]string{
		".git/hooks/pre-commit": "../../scripts/pre-commit", ".vscode": "tools/vscode", ".envrc": "env.sh", ".claude/settings.json": "../cfg/settings.json",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(root, link)))
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	attacks := []string{"scripts/pre-commit", "tools/vscode/tasks.json", "env.sh", "cfg/settings.json"}
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		for _, place := range attacks {
			denied(t, r.WriteFile(place, []byte("x"), 0o755), pathresolver.RuleProtected)
		}
		d := denied(t, r.WriteFile("env.sh", nil, 0o644), pathresolver.RuleProtected)
		require.Contains(t, d.Origin, "'.envrc' is a link to it, and direnv")
		require.NoError(t, r.WriteFile("scripts/other", nil, 0o644))
	})
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Unprotect: []string{".git", ".envrc", ".vscode", ".claude"}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, place := range attacks[:1] {
		require.NoError(t, r.WriteFile(place, []byte("x"), 0o755), "without the rule it works")
	}
}

// What a submodule's repository fetches is kept, in whichever directory that is;
// what leads git elsewhere is not, also where the submodule is called as that.
func TestGitInSubmodules(t *testing.T) {
	_, root := scene(t, ".git/HEAD = h", ".git/config = c",
		".git/modules/libs/Lib/HEAD = h", ".git/modules/libs/Lib/config = c", ".git/modules/libs/Lib/refs/heads/main = x", ".git/modules/libs/Lib/objects/",
		".git/modules/libs/Lib/rebase-merge/git-rebase-todo = pick",
		".git/modules/refs/HEAD = h", ".git/modules/refs/config = c", ".git/modules/deep/logs/refs/HEAD = h", ".git/modules/deep/logs/refs/config = c")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		const lib = ".git/modules/libs/Lib/"
		for _, dir := range []string{lib + "refs/remotes/origin", lib + "logs/refs/remotes/origin"} {
			require.NoError(t, r.MkdirAll(dir, 0o755))
			require.NoError(t, r.WriteFile(dir+"/HEAD.lock", []byte("x"), 0o644))
			require.NoError(t, r.Rename(dir+"/HEAD.lock", dir+"/HEAD", pathresolver.RenameReplace))
		}
		require.NoError(t, r.WriteFile(lib+"HEAD", []byte("h"), 0o644))
		for _, place := range []string{
			lib + "remotes/origin", ".git/modules/refs/remotes/origin", ".git/modules/deep/logs/refs/remotes/origin", ".git/modules/libs/refs/remotes/origin",
			lib + "refs/HEAD", lib + "logs/refs/HEAD", lib + "refs/config", lib + "config", ".git/modules/libs/config", ".git/modules/new/config",
			lib + "rebase-merge/git-rebase-todo",
		} {
			var d *pathresolver.DeniedError
			require.ErrorAs(t, errors.Join(r.MkdirAll(filepath.Dir(place), 0o755), r.WriteFile(place, []byte("x"), 0o644)), &d, place)
			require.Equal(t, pathresolver.RuleProtected, d.Rule, place)
		}
		const object = "objects/1d/9946d8b2180a65cf76c5fd2fdaeebbd2cb6062"
		require.NoError(t, r.MkdirAll(lib+"objects/1d", 0o755))
		require.NoError(t, r.WriteFile(lib+"objects/1d/tmp_obj_ab12CD", []byte("x"), 0o644))
		require.NoError(t, r.Link(lib+"objects/1d/tmp_obj_ab12CD", lib+object), "as git keeps an object")
		denied(t, r.Link(lib+object, lib+"objects/1d/index"), pathresolver.RuleGitDir)
		denied(t, r.Link(lib+object, lib+"MERGE_MSG"), pathresolver.RuleGitDir)
		denied(t, r.Link(lib+"HEAD", lib+"objects/1d/tmp_obj_x"), pathresolver.RuleGitDir)
		require.NoError(t, r.RemoveAll(lib+"objects/1d"))
		require.NoError(t, r.RemoveAll(lib+"refs/remotes"))
		require.NoError(t, r.RemoveAll(lib+"logs"))
	})
}
