//go:build linux

package sandboxfs_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// bound is many times what the package promises for changes on the host: the
// machine may be busy.
const bound = 30 * time.Second

// works says whether one can write beneath the write path of these tests.
func works(f *fixture) bool {
	return write(f.in("a/b/out/probe"), "x") == nil && exists(f.on("a/b/out/probe"))
}

// A write path is a place. It and the directories that lead to it may be moved
// away, removed and made again on the host; what is mounted on it stays.
func TestWritePathIsAPlace(t *testing.T) {
	for _, moved := range []string{"a", "a/b", "a/b/out"} {
		eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
			f := mount(t, o, pathresolver.Config{WritePaths: []string{"a/b/out"}}, "a/b/out/", "a/other=1")
			require.True(t, works(f))

			require.NoError(t, os.Rename(f.on(moved), f.on("moved")))
			eventually(t, bound, func() bool { return !works(f) }, "gone after "+moved+" was moved")
			eventually(t, bound, func() bool { return !exists(f.in("a/b/out/probe")) }, "nothing is seen there")
			inner := map[string]string{"a": "moved/b/out", "a/b": "moved/out", "a/b/out": "moved"}[moved]
			eventually(t, bound, func() bool { return exists(f.in(inner)) }, "seen where it is now")
			require.Error(t, write(f.in(inner+"/n"), "x"), "what was moved away is no write path")

			require.NoError(t, os.Rename(f.on("moved"), f.on(moved)))
			eventually(t, bound, func() bool { return works(f) }, "back after "+moved+" was moved back")

			require.NoError(t, os.RemoveAll(f.on(moved)))
			eventually(t, bound, func() bool { return !works(f) }, "gone after "+moved+" was removed")
			require.NoError(t, os.MkdirAll(f.on("a/b/out"), 0o755))
			eventually(t, bound, func() bool { return works(f) }, "works after "+moved+" was made again")
		})
	}
}

// A write path that becomes a link is refused, not followed.
func TestWritePathBecomesALink(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/", "src/")
		outside := t.TempDir()
		for _, target := range []string{"src", outside} {
			require.NoError(t, os.Rename(f.on("out"), f.on("kept")))
			require.NoError(t, os.Symlink(target, f.on("out")))
			for range 20 {
				err := write(f.in("out/n"), "x")
				if f.v.Mounts()[0].ReadOnly {
					require.ErrorIs(t, err, syscall.EACCES)
				}
			}
			require.NoFileExists(t, f.on("src/n"))
			if target == outside && f.v.Mounts()[0].ReadOnly {
				require.NoFileExists(t, outside+"/n")
			}
			require.NoError(t, os.Remove(f.on("out")))
			require.NoError(t, os.Rename(f.on("kept"), f.on("out")))
			eventually(t, bound, func() bool { return write(f.in("out/n"), "x") == nil && exists(f.on("out/n")) }, "works again")
			require.NoError(t, os.Remove(f.on("out/n")))
		}
	})
}

// A write path may be a file, and may be missing at the start.
func TestWritePathKinds(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"notes.md", "docs/new/deep"}}, "notes.md=one", "docs/x=1", "src/x=1")
		require.NoError(t, write(f.in("notes.md"), "two"))
		require.Equal(t, "two", f.read(f.on("notes.md")))
		require.Equal(t, "two", f.read(f.in("notes.md")))
		require.Error(t, os.Remove(f.in("notes.md")))
		require.Error(t, write(f.in("docs/x"), "2"))
		require.Error(t, write(f.in("docs/y"), "2"))
		require.NoError(t, write(f.on("docs/y"), "2"), "on the host")

		require.NoError(t, write(f.on("notes.tmp"), "three"))
		require.NoError(t, os.Rename(f.on("notes.tmp"), f.on("notes.md")))
		eventually(t, bound, func() bool { return f.read(f.in("notes.md")) == "three" }, "a file that the host replaced")
		require.NoError(t, write(f.in("notes.md"), "four"))
		require.Equal(t, "four", f.read(f.on("notes.md")))
	})
}

// A file that was removed through the view can be opened again by who has found it
// before; what the host has put at its name meanwhile cannot.
func TestRemovedFileIsTheOneThatWasFound(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=old", "out/b=old", "other=new")
		reopened := func(place string, meanwhile func()) (string, error) {
			found, err := os.OpenFile(f.in(place), unix.O_PATH, 0)
			require.NoError(t, err)
			defer found.Close()
			meanwhile()
			require.NoError(t, os.Remove(f.in(place)))
			content, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", found.Fd()))
			return string(content), err
		}
		content, err := reopened("out/a", func() {})
		require.NoError(t, err)
		require.Equal(t, "old", content)
		_, err = reopened("out/b", func() { require.NoError(t, os.Rename(f.on("other"), f.on("out/b"))) })
		require.ErrorIs(t, err, unix.ESTALE)
		require.NoFileExists(t, f.on("out/b"))
	})
}

// Which connections there are.
func TestArrangement(t *testing.T) {
	for _, c := range []struct {
		write []string
		want  []sandboxfs.Mount
		line  string
	}{
		{nil, []sandboxfs.Mount{{Place: ".", ReadOnly: true}}, "read-only (stateless)"},
		{[]string{"."}, []sandboxfs.Mount{{Place: "."}}, "one connection (passthrough)"},
		{[]string{"a/b", "f"}, []sandboxfs.Mount{{Place: ".", ReadOnly: true}, {Place: "a/b"}, {Place: "f", File: true}},
			"split: read-only root (stateless) + 2 write mounts (passthrough)"},
		{[]string{"a/b/new/x", "a/b/c"}, []sandboxfs.Mount{{Place: ".", ReadOnly: true}, {Place: "a/b"}},
			"split: read-only root (stateless) + 1 write mount (passthrough)"},
		{[]string{"new", "a/b"}, []sandboxfs.Mount{{Place: "."}}, "one connection (passthrough)"},
	} {
		f := mount(t, arrangements["root"], pathresolver.Config{WritePaths: c.write}, "a/b/c/", "f=1")
		require.NotEmpty(t, names(t, f.mnt))
		require.Equal(t, c.want, f.v.Mounts())
		line := c.line
		if !isRoot() {
			line = strings.Replace(line, "passthrough", "passthrough unavailable", 1)
		}
		require.Equal(t, line, f.v.Arrangement())
	}
}
