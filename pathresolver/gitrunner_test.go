//go:build linux && !portable

package pathresolver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// What a command of git's configuration finds by itself is protected whatever
// endings its name may have, and where nothing can be named, what turns it on.
func TestFoundByGit(t *testing.T) {
	_, root := scene(t, append([]string{"tools/x = x", "evil/m.py = x", "sub/a = x"}, gitScene...)...)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	config := "[filter \"a\"]\n\tclean = python3 -m tools.m\n[filter \"b\"]\n\tclean = make -s clean\n[filter \"c\"]\n\tclean = node lib/run/me\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte(config), 0o644))
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		for _, name := range []string{"tools/m.py", "tools/M.PY", "tools/m.cpython-311-x86_64-linux-gnu.so", "tools/__init__.py", "tools.py",
			"lib/run/me.js", "lib/run/me.cjs", "lib/run/me", ".gitattributes", "sub/deep/.gitattributes", "sub/.git/info/attributes"} {
			d := denied(t, r.WriteFile(name, nil, 0o644), pathresolver.RuleProtected)
			require.Regexp(t, `git's filter\.[abc]\.clean \(.git/config:[246]\)`, d.Origin, name)
			require.NoFileExists(t, filepath.Join(root, name))
		}
		require.Equal(t, "git's filter.c.clean (.git/config:6)", r.NamedByGit("lib/run/me.js"))
		require.Empty(t, r.NamedByGit("tools/x"))
		require.Empty(t, r.NamedByGit(".git/hooks/x"))
		d := denied(t, r.WriteFile("sub/.gitattributes", nil, 0o644), pathresolver.RuleProtected)
		require.Contains(t, d.Origin, ", which attributes turn on")
		denied(t, r.MkdirAll("tools/m/deep", 0o755), pathresolver.RuleProtected)
		denied(t, r.Symlink("../evil", "tools/m"), pathresolver.RuleProtected)
		denied(t, r.Symlink("../evil", "tools/__pycache__"), pathresolver.RuleProtected)
		denied(t, r.Symlink("evil", "lib"), pathresolver.RuleProtected)
		denied(t, r.Rename("evil/m.py", "tools/m.py", pathresolver.RenameReplace), pathresolver.RuleProtected)
		denied(t, r.Rename("evil", "lib", pathresolver.RenameReplace), pathresolver.RuleEscapes)
		for _, name := range []string{"tools/x", "tools/other.py", "Makefile", "me.js", "sub/a"} {
			require.NoError(t, r.WriteFile(name, nil, 0o644), name)
		}
		require.NoError(t, r.Rename("sub", "sub2", pathresolver.RenameReplace))
		require.NoError(t, r.Rename("sub2", "sub", pathresolver.RenameReplace))
	})
	below := filepath.Join(root, "sub")
	modes(t, pathresolver.Config{Root: below, WritePaths: []string{"."}}, func(t *testing.T, r *pathresolver.Resolver) {
		denied(t, r.WriteFile(".gitattributes", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.WriteFile("deep/.gitattributes", nil, 0o644), pathresolver.RuleProtected)
		require.NoError(t, r.WriteFile("m.py", nil, 0o644))
	})
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Unprotect: []string{".git"}})
	require.NoError(t, err)
	for _, name := range []string{"tools/m.py", "lib/run/me.js", ".gitattributes"} {
		require.NoError(t, r.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, r.WriteFile(name, nil, 0o644), "without the rule it works")
	}
	require.NoError(t, r.Close())
}

// What cannot be protected is told where it may be written, and stops nothing.
func TestGitRuns(t *testing.T) {
	_, root := scene(t, append([]string{"src/a = x"}, gitScene...)...)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	config := "[alias]\n\tup = !npm run up\n[filter \"a\"]\n\tclean = python3 -m tools.m\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte(config), 0o644))
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"."}}
	found := pathresolver.Validate(cfg)
	require.Len(t, found, 2)
	for i, want := range []pathresolver.Violation{
		{Value: "npm run", Message: "git's alias.up (.git/config:2) runs 'npm run', which does what 'package.json' says",
			Hint: "name a program outside of the project there, or --protect 'package.json'"},
		{Value: "python3 -m tools.m", Message: "git's filter.a.clean (.git/config:4) runs 'python3 -m tools.m', which takes any module, as 'argparse.py', from the project first; .gitattributes, which turns it on, stays as it is",
			Hint: "say python3 -I there"},
	} {
		want.Code, want.Severity, want.Field = pathresolver.CodeGitRuns, pathresolver.SeverityWarning, "git"
		require.Equal(t, want, found[i])
	}
	r, err := pathresolver.New(cfg)
	require.NoError(t, err)
	require.Equal(t, found, r.Warnings())
	require.NoError(t, r.Close())

	cfg.Protect = []string{"package.json"}
	require.Len(t, pathresolver.Validate(cfg), 1, "what the agent cannot change it does not decide")
	cfg.WritePaths = []string{"src"}
	require.Empty(t, pathresolver.Validate(cfg))
	cfg.WritePaths, cfg.Unprotect = []string{"."}, []string{".git"}
	require.Empty(t, pathresolver.Validate(cfg))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte("[filter \"a\"]\n\tclean = python3 -Im tools.m\n"), 0o644))
	cfg.Unprotect = nil
	require.Empty(t, pathresolver.Validate(cfg), "-I keeps Python from looking here")
}
