package pathresolver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// TestGitWorktree: in a git directory the work tree that is named is the
// caller's own, but for a rebase that stood there; without the name it is not.
func TestGitWorktree(t *testing.T) {
	_, root := scene(t, "HEAD = ref: refs/heads/main", "objects/x = x", "refs/heads/main = x",
		"worktrees/wt/HEAD = ref: refs/heads/topic", "worktrees/wt/rebase-merge/todo = pick", "worktrees/other/HEAD = ref: refs/heads/other")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"."}, GitWorktree: "wt"}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		require.NoError(t, r.WriteFile("worktrees/wt/ORIG_HEAD", []byte("x"), 0o644))
		require.NoError(t, r.Remove("worktrees/wt/ORIG_HEAD"))
		denied(t, r.WriteFile("worktrees/other/HEAD", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.WriteFile("worktrees/wt/rebase-merge/todo", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.Symlink("HEAD", "worktrees/wt/MERGE_MSG"), pathresolver.RuleGitDir)
		denied(t, r.WriteFile("worktrees/wt/config.worktree", nil, 0o644), pathresolver.RuleProtected)
	})
	cfg.GitWorktree = ""
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		denied(t, r.WriteFile("worktrees/wt/ORIG_HEAD", []byte("x"), 0o644), pathresolver.RuleProtected)
	})
}

// TestGitDirs: a file .git may name a work tree of a git directory that lies
// outside, where that is named, and none of another.
func TestGitDirs(t *testing.T) {
	_, root := scene(t, "src/f = f")
	check := func(dirs ...string) *pathresolver.DeniedError {
		r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, GitDirs: dirs})
		require.NoError(t, err)
		defer r.Close()
		return r.CheckGitText("src/.git", []byte("gitdir: /code/main/.git/worktrees/new\n"))
	}
	require.Nil(t, check("/code/main/.git"))
	require.NotNil(t, check())
	require.NotNil(t, check("/code/main/.gi", "/code/other/.git"))
}
