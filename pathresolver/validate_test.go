package pathresolver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func codes(list []pathresolver.Violation) []access.Code {
	var out []access.Code
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
		code  access.Code
		w10   bool
	}{
		{filepath.Join(base, "outside"), "path_outside", true},
		{filepath.Join(base, "root-evil"), "path_prefix_sibling", true},
		{"../outside", "path_dot_dot", true},
		{"out/../src", "path_dot_dot", true},
		{"leads-out/dir", "path_symlink_out", true},
		{"in/x", "path_symlink", false},
		{"", "path_empty", false},
		{"a\x00b", "path_nul", false},
		{strings.Repeat("x", 5000), "path_too_long", false},
		{strings.Repeat("y", 256), "path_too_long", false},
		{"ok.txt/below", "path_beneath_file", false},
		{".git/hooks", "path_protected", false},
		{"private/x", "path_hidden", false},
	}
	cfg := pathresolver.Config{Root: root, Hide: []string{"private"}}
	var want []access.Code
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
	for value, code := range map[string]access.Code{
		"":                            "root_empty",
		filepath.Join(root, "none"):   "root_missing",
		filepath.Join(root, "ok.txt"): "root_not_directory",
		"/":                           "root_broad",
		"/usr":                        "root_broad",
		home:                          "root_broad",
		filepath.Dir(home):            "root_broad",
	} {
		// A bad root does not keep the other findings away.
		got := pathresolver.Validate(pathresolver.Config{Root: value, WritePaths: []string{"", "../x", "/etc/x"}})
		want := []access.Code{code, "path_empty", "path_dot_dot"}
		if value != "" && value != "/" { // without a root nothing is outside of it, and nothing is outside of /
			want = append(want, "path_outside")
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
	require.ElementsMatch(t, []access.Code{pathresolver.CodePathNested, "path_duplicate", "path_case_collision"}, codes(r.Warnings()))
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
		require.Equal(t, []access.Code{"bad_pattern"}, codes(got), g)
	}
	got := pathresolver.Validate(pathresolver.Config{Root: root, Unprotect: []string{"src"}})
	require.Equal(t, []access.Code{"unknown_unprotect"}, codes(got))
}
