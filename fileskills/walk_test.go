package fileskills

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"
)

// The order is that of filepath.WalkDir, however many read ahead.
func TestWalkOrder(t *testing.T) {
	w := newWorld(t)
	for d := range 40 {
		for f := range 12 {
			w.plant(fmt.Sprintf("d%d/s%d/f%d", d, f%5, f), "")
			w.plant(fmt.Sprintf("d%d.x", d), "")
		}
	}
	var want []string
	require.NoError(t, filepath.WalkDir(w.root, func(p string, e fs.DirEntry, _ error) error {
		if !e.IsDir() {
			rel, err := filepath.Rel(w.root, p)
			require.NoError(t, err)
			want = append(want, filepath.ToSlash(rel))
		}
		return nil
	}))
	for range 20 {
		require.Equal(t, want, w.visited(".", true))
	}
}

// A glob over states says what doublestar says over whole paths, but for a
// last "**", which here stands for something.
func TestPathGlobAsDoublestar(t *testing.T) {
	paths := []string{"a", "b", "a.go", "a/b", "a/b.go", "a/b/c", "a/b/c.go", "b/a/b/c", "x/y/z/w.go", ".x", "a/.x/b", "src/a/x.ts", "test/b/x.tsx"}
	for _, glob := range []string{"*", "**/*", "**", "*.go", "**/*.go", "a/*", "a/**", "a/**/c", "**/b/**", "**/b/**/c", "?", "[ab]", "{a,b}",
		"{a,b/a}/**/c", "{src,test/b}/**/*.{ts,tsx}", "a/{b,c}.go", "**/{a,b}/*", "x/**/z/*.go", "a*/b", `\a`, "[!a]/**"} {
		set, err := newPathGlob(glob)
		require.NoError(t, err, glob)
		for _, p := range paths {
			names := strings.Split(p, "/")
			at, alive := set.start(), true
			for _, dir := range names[:len(names)-1] {
				if at, alive = set.step(at, dir); !alive {
					break
				}
			}
			got := alive && set.accepts(at, names[len(names)-1])
			want, err := doublestar.Match(glob, p)
			require.NoError(t, err)
			if base, ok := strings.CutSuffix(glob, "/**"); ok {
				if self, _ := doublestar.Match(base, p); self {
					want = want && got // the directory itself
				}
			}
			require.Equal(t, want, got, "%s on %s", glob, p)
		}
	}
	for _, bad := range []string{"", "[", "{a", "a/../b", "..", ".", "/", "{a/,b/}{a/,b/}{a/,b/}{a/,b/}{a/,b/}{a/,b/}{a/,b/}", strings.Repeat("a/", 80)} {
		_, err := newPathGlob(bad)
		require.Error(t, err, bad)
	}
}

// A walk reads no further than the caller wants, and ends when ctx does.
func TestWalkStops(t *testing.T) {
	w := newWorld(t)
	for d := range 300 {
		w.plant(fmt.Sprintf("d%03d/f", d), "")
	}
	c := &call{set: w.set, fs: w.set.fs, skill: globFiles, ctx: context.Background()}
	k, _, err := c.newWalk(".", true)
	require.NoError(t, err)
	defer k.close(c.ctx)
	k.want, _ = newPathGlob("**")
	seen := 0
	require.NoError(t, k.run(c.ctx, nil, func(string, string, fs.FileMode) (bool, error) { seen++; return seen < 10, nil }))
	require.Equal(t, 10, seen)

	ctx, cancel := context.WithCancel(c.ctx)
	k2, _, err := c.newWalk(".", true)
	require.NoError(t, err)
	k2.want, _ = newPathGlob("**")
	err = k2.run(ctx, nil, func(string, string, fs.FileMode) (bool, error) { cancel(); return true, nil })
	require.ErrorIs(t, err, context.Canceled)
	k2.close(ctx)
}

// A tree deeper than the longest path ends the walk there, with the rest of it
// done; so does a directory that may not be read.
func TestWalkDeep(t *testing.T) {
	w := newWorld(t)
	old, err := os.Getwd()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.Chdir(old)) })
	require.NoError(t, os.Chdir(w.root))
	name := strings.Repeat("d", 200)
	for range 30 { // 6000 bytes
		require.NoError(t, os.Mkdir(name, 0o755))
		require.NoError(t, os.Chdir(name))
		require.NoError(t, os.WriteFile("f", nil, 0o644))
	}
	require.NoError(t, os.Chdir(old))
	found := w.visited(".", true)
	require.Equal(t, "ok.txt", found[len(found)-1], "what comes after it")
	require.Greater(t, len(found), 15)
	res := w.ok("glob", args{"pattern": "**/f"})
	require.True(t, *res.Meta.Total == 30 || strings.Contains(res.Text, "1 unreadable"), "os.Root has no longest path")
}
