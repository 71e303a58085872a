package gitshare

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// git runs git in dir without anybody's configuration.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
		"GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=main",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", cmd, out)
}

// places is base with a repository main, its worktrees wt and wt2, a submodule
// of it, and a clone whose git directory is sep.git.
func places(t *testing.T) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, repo := range []string{"lib", "main"} {
		git(t, base, "init", "-q", repo)
		git(t, base+"/"+repo, "commit", "-q", "--allow-empty", "-m", "first")
	}
	git(t, base+"/main", "submodule", "-q", "add", base+"/lib", "libs/lib")
	git(t, base+"/main", "worktree", "add", "-q", "-b", "topic", "../wt")
	git(t, base+"/main", "worktree", "add", "-q", "-b", "other", "../wt2")
	git(t, base, "clone", "-q", "--separate-git-dir=sep.git", "lib", "sep")
	return base
}

func found(t *testing.T, checkout string) *Repo {
	t.Helper()
	r, err := Find(checkout, os.Geteuid())
	require.NoError(t, err)
	require.NotNil(t, r)
	require.NoError(t, r.Close())
	r.root = nil
	return r
}

func TestFind(t *testing.T) {
	base := places(t)
	require.Equal(t, &Repo{Dir: base + "/main/.git", Worktree: "wt", Branch: "refs/heads/topic", Checkout: base + "/wt"}, found(t, base+"/wt"))
	require.Equal(t, &Repo{Dir: base + "/main/.git/modules/libs/lib", Checkout: base + "/main/libs/lib"}, found(t, base+"/main/libs/lib"))

	// What leads there by a link is the same.
	require.NoError(t, os.Symlink("wt", base+"/link"))
	require.Equal(t, found(t, base+"/wt"), found(t, base+"/link"))

	// What is in place is for the resolver.
	for _, checkout := range []string{base + "/main", base + "/main/libs", base} {
		r, err := Find(checkout, os.Geteuid())
		require.NoError(t, err, checkout)
		require.Nil(t, r, checkout)
	}

	// A separate git directory does not name its checkout until it is told to.
	_, err := Find(base+"/sep", os.Geteuid())
	var refused *Error
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Reason, "does not name its checkout")
	line, ok := strings.CutPrefix(refused.Hint(), "if it is yours: ")
	require.True(t, ok)
	require.NoError(t, exec.Command("sh", "-c", line).Run())
	require.Equal(t, &Repo{Dir: base + "/sep.git", Checkout: base + "/sep"}, found(t, base+"/sep"))

	// With settings of a worktree's own git keeps core.worktree elsewhere.
	git(t, base+"/sep", "config", "extensions.worktreeConfig", "true")
	git(t, base+"/sep", "config", "--unset", "core.worktree")
	git(t, base, "config", "-f", base+"/sep.git/config.worktree", "core.worktree", base+"/sep")
	require.Equal(t, &Repo{Dir: base + "/sep.git", Checkout: base + "/sep"}, found(t, base+"/sep"))
}

func TestFindBranch(t *testing.T) {
	base := places(t)
	own := base + "/main/.git/worktrees/wt/"
	branch := func() string { return found(t, base+"/wt").Branch }
	head := func(ref string) {
		require.NoError(t, os.WriteFile(own+"HEAD", []byte("ref: "+ref+"\n"), 0o644))
	}
	require.Equal(t, "refs/heads/topic", branch())
	for _, ref := range []string{"refs/heads/main", "refs/heads/other", "refs/tags/v0", "refs/heads/../tags/v0", "HEAD", "refs/heads/"} {
		head(ref)
		require.Empty(t, branch(), "HEAD says %s", ref)
	}
	head("refs/heads/free")
	require.Equal(t, "refs/heads/free", branch())

	// A rebase detaches HEAD, and comes back to the branch.
	git(t, base+"/wt", "checkout", "-q", "--detach", "main")
	require.Empty(t, branch())
	require.NoError(t, os.MkdirAll(own+"rebase-merge", 0o755))
	require.NoError(t, os.WriteFile(own+"rebase-merge/head-name", []byte("refs/heads/topic\n"), 0o644))
	require.Equal(t, "refs/heads/topic", branch())
	require.NoError(t, os.WriteFile(base+"/main/.git/worktrees/wt2/HEAD", []byte("ref: refs/heads/topic\n"), 0o644))
	require.Empty(t, branch())

	// A bare repository's HEAD is nobody's.
	head("refs/heads/main")
	require.Empty(t, branch())
	git(t, base+"/main", "config", "core.bare", "true")
	require.Equal(t, "refs/heads/main", branch())
}

// TestFindRefuses: a checkout that somebody else made opens no repository that
// does not name it, and nothing that is no git directory of the caller's.
func TestFindRefuses(t *testing.T) {
	for what, spoil := range map[string]func(base, checkout string) error{
		"another's worktree": func(base, checkout string) error {
			return os.WriteFile(checkout+"/.git", []byte("gitdir: "+base+"/main/.git/worktrees/wt2\n"), 0o644)
		},
		"a main repository": func(base, checkout string) error {
			return os.WriteFile(checkout+"/.git", []byte("gitdir: "+base+"/lib/.git\n"), 0o644)
		},
		"another's submodule": func(base, checkout string) error {
			return os.WriteFile(checkout+"/.git", []byte("gitdir: "+base+"/main/.git/modules/libs/lib\n"), 0o644)
		},
		"nothing":        func(_, checkout string) error { return os.WriteFile(checkout+"/.git", nil, 0o644) },
		"no git file":    func(_, checkout string) error { return os.WriteFile(checkout+"/.git", []byte("hello\n"), 0o644) },
		"more lines":     func(_, checkout string) error { return appendTo(checkout+"/.git", "gitdir: /\n") },
		"a huge file":    func(_, checkout string) error { return os.Truncate(checkout+"/.git", maxLine+1) },
		"a missing one":  func(base, _ string) error { return os.RemoveAll(base + "/main/.git/worktrees/wt") },
		"no way back":    func(base, _ string) error { return os.Remove(base + "/main/.git/worktrees/wt/gitdir") },
		"a FIFO as back": func(base, _ string) error { return fifo(base + "/main/.git/worktrees/wt/gitdir") },
		"a link as back": func(base, _ string) error {
			return errors.Join(os.Rename(base+"/main/.git/worktrees/wt/gitdir", base+"/moved"), os.Symlink(base+"/moved", base+"/main/.git/worktrees/wt/gitdir"))
		},
		"a FIFO as commondir": func(base, _ string) error { return fifo(base + "/main/.git/worktrees/wt/commondir") },
		"another common directory": func(base, _ string) error {
			return os.WriteFile(base+"/main/.git/worktrees/wt/commondir", []byte(base+"/lib/.git\n"), 0o644)
		},
		"no objects":   func(base, _ string) error { return os.RemoveAll(base + "/main/.git/objects") },
		"a reftable":   func(base, _ string) error { return os.Mkdir(base+"/main/.git/reftable", 0o755) },
		"around it":    func(base, checkout string) error { return moveInto(base, checkout) },
		"a moved tree": func(base, checkout string) error { return os.Rename(checkout, base+"/away") },
	} {
		base := places(t)
		checkout := base + "/wt"
		found(t, checkout) // as it was it is opened
		require.NoError(t, spoil(base, checkout), what)
		switch what {
		case "a moved tree":
			checkout = base + "/away"
		case "around it":
			checkout = base + "/main/.git/inside"
		}
		r, err := Find(checkout, os.Geteuid())
		var refused *Error
		require.ErrorAs(t, err, &refused, what)
		require.Nil(t, r, what)
		require.Contains(t, err.Error(), checkout, what)
		t.Logf("%s: %v", what, err)
	}
	base := places(t)
	_, err := Find(base+"/wt", os.Geteuid()+1)
	require.ErrorContains(t, err, "belongs to somebody else")
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func fifo(name string) error { return errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o644)) }

// moveInto has the checkout lie in the git directory.
func moveInto(base, checkout string) error {
	inside := base + "/main/.git/inside"
	return errors.Join(os.Rename(checkout, inside), os.WriteFile(base+"/main/.git/worktrees/wt/gitdir", []byte(inside+"/.git\n"), 0o644))
}
