package pathresolver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func codes(list []pathresolver.Violation) []pathresolver.Code {
	var out []pathresolver.Code
	for _, v := range list {
		out = append(out, v.Code)
	}
	return out
}

// Every violation of one configuration is reported at once.
func TestValidateReportsEverything(t *testing.T) {
	base, root := scene(t, "in => src", "leads-out => ../outside", "fifo-parent = x", "out/")
	bad := []struct {
		value string
		code  pathresolver.Code
		w10   bool
	}{
		{filepath.Join(base, "outside"), pathresolver.CodePathOutside, true},
		{filepath.Join(base, "root-evil"), pathresolver.CodePathPrefixSibling, true},
		{"../outside", pathresolver.CodePathDotDot, true},
		{"out/../src", pathresolver.CodePathDotDot, true},
		{"leads-out/dir", pathresolver.CodePathSymlinkOut, true},
		{"in/x", pathresolver.CodePathSymlink, false},
		{"", pathresolver.CodePathEmpty, false},
		{"a\x00b", pathresolver.CodePathNUL, false},
		{strings.Repeat("x", 5000), pathresolver.CodePathTooLong, false},
		{strings.Repeat("y", 256), pathresolver.CodePathTooLong, false},
		{"ok.txt/below", pathresolver.CodePathBeneathFile, false},
		{".git/hooks", pathresolver.CodePathProtected, false},
		{"private/x", pathresolver.CodePathHidden, false},
	}
	cfg := pathresolver.Config{Root: root, Hide: []string{"private"}}
	var want []pathresolver.Code
	for _, b := range bad {
		cfg.WritePaths = append(cfg.WritePaths, b.value)
		want = append(want, b.code)
	}
	for _, walker := range []bool{false, true} {
		cfg.ForceWalker = walker
		got := pathresolver.Validate(cfg)
		require.Equal(t, want, codes(got))
		for i, b := range bad {
			if b.w10 {
				require.Equal(t, fmt.Sprintf("allowed_write_path '%s' is outside sandbox root '%s'", b.value, root), got[i].Message)
			}
			require.NotContains(t, got[i].Message, "\x00")
		}
		require.Equal(t, "leads-out", got[4].Link)
		require.Equal(t, "../outside", got[4].Target)
		_, err := pathresolver.New(cfg)
		var ce *pathresolver.ConfigError
		require.ErrorAs(t, err, &ce)
		require.Len(t, ce.Violations, len(bad))
	}
}

func TestValidateRoot(t *testing.T) {
	_, root := scene(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	for value, code := range map[string]pathresolver.Code{
		"":                            pathresolver.CodeRootEmpty,
		filepath.Join(root, "none"):   pathresolver.CodeRootMissing,
		filepath.Join(root, "ok.txt"): pathresolver.CodeRootNotDirectory,
		"/":                           pathresolver.CodeRootBroad,
		"/usr":                        pathresolver.CodeRootBroad,
		home:                          pathresolver.CodeRootBroad,
		filepath.Dir(home):            pathresolver.CodeRootBroad,
	} {
		// A bad root does not keep the other findings away.
		got := pathresolver.Validate(pathresolver.Config{Root: value, WritePaths: []string{"", "../x", "/etc/x"}})
		want := []pathresolver.Code{code, pathresolver.CodePathEmpty, pathresolver.CodePathDotDot}
		if value != "" && value != "/" { // without a root nothing is outside of it, and nothing is outside of /
			want = append(want, pathresolver.CodePathOutside)
		}
		require.Equal(t, want, codes(got), value)
	}
	require.Empty(t, pathresolver.Validate(pathresolver.Config{Root: home, AllowBroadRoot: true}))
}

func TestWritePathsCollapse(t *testing.T) {
	_, root := scene(t, "Out/")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"src", "src/deep", filepath.Join(root, "src") + "/", "./new", "out", "ok.txt"}}
	r, err := pathresolver.New(cfg)
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, []string{"new", "ok.txt", "out", "src"}, r.WritePaths())
	require.ElementsMatch(t, []pathresolver.Code{pathresolver.CodePathNested, pathresolver.CodePathDuplicate, pathresolver.CodePathCaseCollision}, codes(r.Warnings()))
	require.NoError(t, r.WriteFile("ok.txt", []byte("single file"), 0o644))
	require.NoError(t, r.MkdirAll("new/d", 0o755))
}

// A root that is reached through a link, and a write path spelled through it.
func TestAlternativeSpellings(t *testing.T) {
	base, root := scene(t)
	alias := filepath.Join(base, "alias")
	require.NoError(t, os.Symlink(root, alias))
	for _, wp := range []string{filepath.Join(alias, "src"), filepath.Join(root, "src")} {
		r, err := pathresolver.New(pathresolver.Config{Root: alias, WritePaths: []string{wp}}) // L23
		require.NoError(t, err)
		require.NoError(t, r.WriteFile("src/x", []byte("n"), 0o644))
		require.NoError(t, r.WriteFile(filepath.Join(alias, "src/x"), []byte("n"), 0o644))
		require.NoError(t, r.WriteFile(filepath.Join(root, "src/x"), []byte("n"), 0o644))
		require.NoError(t, r.Close())
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{filepath.Join(alias, "src")}})
	require.NoError(t, err)
	require.Equal(t, []string{"src"}, r.WritePaths())
	require.NoError(t, r.Close())
}

func TestBadGlobs(t *testing.T) {
	_, root := scene(t)
	for _, g := range []string{"", "/abs", "a/../b", "[", "a//b", "{a/b,c}", "a**b", "x\x00"} {
		got := pathresolver.Validate(pathresolver.Config{Root: root, Hide: []string{g}})
		require.Equal(t, []pathresolver.Code{pathresolver.CodeBadPattern}, codes(got), g)
	}
	got := pathresolver.Validate(pathresolver.Config{Root: root, Unprotect: []string{"src"}})
	require.Equal(t, []pathresolver.Code{pathresolver.CodeUnknownUnprotect}, codes(got))
}
