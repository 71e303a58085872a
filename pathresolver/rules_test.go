package pathresolver_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Rows K: hidden and protected names, whether or not they exist.
func TestHidden(t *testing.T) {
	_, root := scene(t, ".env = s", "sub/.env = s", "out/link => ../.env", "key.PEM = s", "secrets/a = s")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"."}, Hide: []string{"**/.env", "**/*.pem", "secrets/**"}}
	hidden := pathresolver.RuleHidden
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		for _, p := range []string{".env", "sub/.env", "sub/../.env", "out/link", "key.PEM", ".ENV", ".e\u200cnv", "\ufeff.env", "a/.env", "secrets", "secrets/a", "secrets/new"} {
			_, err := r.ReadFile(p)
			denied(t, err, hidden)
			_, err = r.Lstat(p)
			if p != "out/link" {
				denied(t, err, hidden)
			}
			denied(t, r.WriteFile(p, nil, 0o644), hidden)
			if p != "out/link" {
				denied(t, r.Remove(p), hidden)
				denied(t, r.Rename(p, "y", pathresolver.RenameReplace), hidden)
				denied(t, r.Rename("x", p, pathresolver.RenameReplace), hidden)
			}
		}
		denied(t, r.RemoveAll("sub"), hidden)
		require.FileExists(t, filepath.Join(root, "sub/x"), "nothing went before the refusal")
		_, err := r.Open("sub")
		denied(t, err, hidden)
		list, err := r.ReadDir("sub")
		require.NoError(t, err)
		require.Len(t, list, 2)
		// Renaming a directory that may hold "**/.env" lets nothing escape.
		require.NoError(t, r.Rename("sub", "sub2", pathresolver.RenameReplace))
		_, err = r.ReadFile("sub2/.env")
		denied(t, err, hidden)
		require.NoError(t, r.Rename("sub2", "sub", pathresolver.RenameReplace))
	})
	cfg.Hide = nil
	r, err := pathresolver.New(cfg)
	require.NoError(t, err)
	defer r.Close()
	_, err = r.ReadFile("sub/.env")
	require.NoError(t, err, "without the rule it is readable")
}

func TestProtected(t *testing.T) {
	_, root := scene(t, ".git/config = c", ".git/HEAD = h", "work/secrets/a = s", "work/x = x", "plain/x = x", "g => .git")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"."}, Protect: []string{"work/secrets"}}
	protected, escapes := pathresolver.RuleProtected, pathresolver.RuleEscapes
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		_, err := r.ReadFile(".git/config")
		require.NoError(t, err)
		require.NoError(t, r.WriteFile(".git/HEAD", []byte("h2"), 0o644))
		for _, p := range []string{".git/config", "g/config", ".git/hooks/pre-commit", ".git/hooks", ".GIT/config", "work/secrets/a", "work/secrets/new",
			".git/modules/a/b/hooks/x"} {
			denied(t, r.WriteFile(p, nil, 0o644), protected)
			denied(t, r.Mkdir(p, 0o755), protected)
			denied(t, r.Remove(p), protected)
		}
		denied(t, r.MkdirAll(".git/hooks/sub", 0o755), protected)
		denied(t, r.RemoveAll("work"), protected)
		require.FileExists(t, filepath.Join(root, "work/x"))
		denied(t, r.Rename(".git", "git2", pathresolver.RenameReplace), escapes)
		denied(t, r.Rename("work", "work2", pathresolver.RenameReplace), escapes)
		denied(t, r.Rename("plain", "work", pathresolver.RenameExchange), escapes)
		denied(t, r.Rename("work/x", "work/secrets", pathresolver.RenameReplace), protected)
		require.NoError(t, r.Rename("plain", "plain2", pathresolver.RenameReplace))
		require.NoError(t, r.Rename("plain2", "plain", pathresolver.RenameReplace))
	})
}

func TestGitMayOnlyBeADirectory(t *testing.T) {
	_, root := scene(t, "evil/hooks/x = x", "f = gitdir: evil", "emptied/")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		protected := pathresolver.RuleProtected
		denied(t, r.WriteFile(".git", []byte("gitdir: evil"), 0o644), protected)
		denied(t, r.Symlink("evil", ".git"), protected)
		denied(t, r.Rename("f", ".git", pathresolver.RenameReplace), protected)
		denied(t, r.Link("f", ".git"), protected)
		denied(t, r.Rename("evil", ".git", pathresolver.RenameReplace), protected)
		require.NoError(t, r.Mkdir(".git", 0o755))
		require.NoError(t, r.WriteFile(".git/HEAD", []byte("ref: refs/heads/main"), 0o644))
		denied(t, r.WriteFile(".git/config", nil, 0o644), protected)
		require.NoError(t, os.RemoveAll(filepath.Join(root, ".git")))
	})
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Unprotect: []string{".git"}})
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.Symlink("evil", ".git"), "without the rule it works")
}

// The .git of a submodule is guarded like the project's own: git outside
// recurses into it. HEAD at the root would make the root a repository.
func TestSubmodulesAreGuarded(t *testing.T) {
	_, root := scene(t, "src/m/.git = gitdir: ../../.git/modules/m", "old/.git/config = c", "old/.git/HEAD = h",
		"odd [1]/x = x", "plain/x = x",
		".gitmodules = [submodule \"m\"]\n\tpath = src/m\n\turl = ./m\n[submodule \"old\"]\n  path=old\n[submodule \"o\"]\n\tpath = \"odd [1]\"\n[submodule \"n\"]\npath = none\n")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		for _, p := range []string{"src/m/.git", "old/.git/config", "old/.git/hooks/x", "odd [1]/.git", "none/.git", "HEAD", "head"} {
			denied(t, r.WriteFile(p, nil, 0o644), pathresolver.RuleProtected)
			denied(t, r.Remove(p), pathresolver.RuleProtected)
			denied(t, r.Mkdir(p, 0o755), pathresolver.RuleProtected)
		}
		denied(t, r.Rename("old", "older", pathresolver.RenameReplace), pathresolver.RuleEscapes)
		denied(t, r.Rename("plain", "none", pathresolver.RenameReplace), pathresolver.RuleEscapes)
		require.NoError(t, r.WriteFile("old/.git/COMMIT_EDITMSG", nil, 0o644))
		require.NoError(t, r.MkdirAll("src/n/.git/hooks", 0o755), "a repository of the agent's own")
		require.NoError(t, r.WriteFile("src/m/x", nil, 0o644))
		if err := r.RemoveAll("src/n"); r.Mode() == "os.Root" { // where nobody can tell who made it
			denied(t, err, pathresolver.RuleProtected)
			require.NoError(t, os.RemoveAll(filepath.Join(root, "src/n")))
		} else {
			require.NoError(t, err)
		}
	})
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Unprotect: []string{".git", "HEAD"}})
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.WriteFile("src/m/.git", nil, 0o644), "without the rule it works")
	require.NoError(t, r.WriteFile("HEAD", nil, 0o644))
}

func TestHardLinks(t *testing.T) {
	for _, how := range []pathresolver.HardLinks{pathresolver.HardLinksDeny, pathresolver.HardLinksBreak, pathresolver.HardLinksAllow} {
		for _, walker := range []bool{false, true} {
			t.Run(fmt.Sprint(how, walker), func(t *testing.T) {
				_, root := scene(t, "out/", "out/h == src/x")
				r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}, HardLinks: how, ForceWalker: walker})
				require.NoError(t, err)
				defer r.Close()
				err = r.WriteFile("out/h", []byte("new"), 0o644)
				src, rerr := os.ReadFile(filepath.Join(root, "src/x"))
				require.NoError(t, rerr)
				switch how {
				case pathresolver.HardLinksDeny:
					denied(t, err, pathresolver.RuleHardLink)
					denied(t, r.Chmod("out/h", 0o600), pathresolver.RuleHardLink)
					require.Equal(t, "srcx", string(src))
				case pathresolver.HardLinksBreak:
					require.NoError(t, err)
					require.Equal(t, "srcx", string(src))
				case pathresolver.HardLinksAllow:
					require.NoError(t, err)
					require.Equal(t, "new", string(src), "without the guard the other name changes")
				}
			})
		}
	}
}

// A link that was made here and is gone does not vouch for one that somebody
// else makes later, nor for another file that gets the same inode number.
func TestLinksMadeElsewhereLater(t *testing.T) {
	_, root := scene(t, "out/f = f")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		alias := filepath.Join(root, "src/alias")
		require.NoError(t, r.Link("out/f", "out/g"))
		require.NoError(t, r.WriteFile("out/f", []byte("both are ours"), 0o644))
		require.NoError(t, r.Remove("out/g"))
		require.NoError(t, r.WriteFile("out/f", []byte("one"), 0o644))
		require.NoError(t, os.Link(filepath.Join(root, "out/f"), alias))
		denied(t, r.Truncate("out/f", 0), pathresolver.RuleHardLink)
		require.NoError(t, os.Remove(alias))

		require.NoError(t, r.Link("out/f", "out/g"))
		require.NoError(t, r.WriteFile("out/other", nil, 0o644))
		require.NoError(t, r.Rename("out/other", "out/g", pathresolver.RenameReplace))
		require.NoError(t, os.Link(filepath.Join(root, "out/f"), alias))
		denied(t, r.Truncate("out/f", 0), pathresolver.RuleHardLink)
		require.NoError(t, os.Remove(alias))
		require.NoError(t, r.Remove("out/g"))
	})
}

func TestManyRulesCostLittle(t *testing.T) {
	_, root := scene(t)
	var hide []string
	for i := range 1000 {
		hide = append(hide, fmt.Sprintf("**/secret%d", i), fmt.Sprintf("**/*.x%d", i), fmt.Sprintf("dir%d/private", i))
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Hide: hide})
	require.NoError(t, err)
	defer r.Close()
	require.True(t, r.Verdict("a/b/secret7/c").Hidden)
	require.True(t, r.Verdict("a/b.x999").Hidden)
	require.True(t, r.Verdict("dir5/private/x").Hidden)
	require.False(t, r.Verdict("dir5/public/x").Hidden)
	require.Zero(t, testing.AllocsPerRun(100, func() { r.VerdictIn("a/b", "c.go") })-1, "one allocation, for the joined place")
}

func TestDevicesMayNotBeMade(t *testing.T) {
	_, root := scene(t)
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}})
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, pathresolver.RuleSpecialFile, r.Decide(access.OpCreate, "dev", fs.ModeDevice).Rule)
	require.Nil(t, r.Decide(access.OpCreate, "fifo", fs.ModeNamedPipe))
}
