package fileskills

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// plainWalk is a search as one would write it: it opens what os.Stat says is
// a directory, and reads what it says is not.
func plainWalk(dir string, visit func(path string, info fs.FileInfo)) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		p := dir + "/" + e.Name()
		info, err := os.Stat(p)
		if err != nil {
			continue
		}
		visit(p, info)
		if info.IsDir() {
			plainWalk(p, visit)
		}
	}
}

// searches are the calls that walk.
func (w *world) searches() (glob, grep *Result) {
	w.t.Helper()
	return w.ok("glob", args{"pattern": "**", "kind": "any"}), w.ok("grep", args{"pattern": "(?i)secret"})
}

// T02, B22: a search does not go through a link that leaves, nor through one
// that stays.
func TestSearchFollowsNoLink(t *testing.T) {
	w := newWorld(t)
	w.plant("d/in.txt", "no secrets\n")
	require.NoError(t, os.Symlink("../outside", w.path("leaves")))
	require.NoError(t, os.Symlink(filepath.Join(w.base, "outside", "secret"), w.path("file")))
	require.NoError(t, os.Symlink("d", w.path("stays")))
	glob, grep := w.searches()
	require.Equal(t, "d/\nd/in.txt\nfile\nleaves\nok.txt\nout/\nstays", glob.Text)
	require.Equal(t, "d/in.txt:1:no secrets\n[1 match in 1 file]\n(3 links not searched)", grep.Text)
	w.refused(CodeSymlinkEscape, "grep", args{"pattern": "secret", "path": "leaves"})
	w.refused(CodeSymlinkEscape, "glob", args{"pattern": "*", "path": "leaves"})
	w.refused(CodeSymlinkEscape, "grep", args{"pattern": "secret", "path": "file"})
	require.Contains(t, w.ok("grep", args{"pattern": "secret", "path": "stays"}).Text, "d/in.txt:1:", "a link inside is followed when it is named")

	var leaked []string
	plainWalk(w.root, func(p string, info fs.FileInfo) {
		if data, err := os.ReadFile(p); err == nil && string(data) == "secret\n" {
			leaked = append(leaked, p)
		}
	})
	require.Len(t, leaked, 2, "without the guard it leaves")
}

// T02: a tree that goes round ends.
func TestSearchEndsOnCycles(t *testing.T) {
	w := newWorld(t)
	w.plant("a/b/f", "secret\n")
	require.NoError(t, os.Symlink("..", w.path("a/b/up")))
	require.NoError(t, os.Symlink(".", w.path("a/self")))
	require.NoError(t, os.Symlink(w.root, w.path("a/root")))
	glob, grep := w.searches()
	require.Equal(t, "a/\na/b/\na/b/f\na/b/up\na/root\na/self\nok.txt\nout/", glob.Text)
	require.Contains(t, grep.Text, "[1 match in 1 file]")
	deepest := 0
	visits := 0
	plainBounded(w.root, 12, func(p string) { visits++; deepest = max(deepest, strings.Count(p[len(w.root):], "/")) })
	require.Equal(t, 12, deepest, "without the guard it goes round")
	require.Greater(t, visits, 1000)
}

// plainBounded is plainWalk with an end.
func plainBounded(dir string, depth int, visit func(string)) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		p := dir + "/" + e.Name()
		visit(p)
		if info, err := os.Stat(p); err == nil && info.IsDir() && depth > 1 {
			plainBounded(p, depth-1, visit)
		}
	}
}

// T02, S01, S03: a search reads no FIFO, socket or device, and none blocks it.
func TestSearchReadsNoSpecialFile(t *testing.T) {
	w := newWorld(t)
	w.plant("f", "secret\n")
	require.NoError(t, unix.Mkfifo(w.path("fifo"), 0o644))
	special := 1
	if os.Getuid() == 0 {
		require.NoError(t, unix.Mknod(w.path("zero"), unix.S_IFCHR|0o644, int(unix.Mkdev(1, 5))))
		special = 2
	}
	grep := w.ok("grep", args{"pattern": "secret"})
	require.Equal(t, fmt.Sprintf("f:1:secret\n[1 match in 1 file]\n(%s not searched)", countOf(special, "special file", "special files")), grep.Text)
	require.Equal(t, "f\nok.txt", strings.Split(w.ok("glob", args{"pattern": "*"}).Text, "\n(")[0])
	require.Contains(t, w.ok("list_directory", args{}).Text, "fifo (FIFO)\n")
	for _, skill := range []string{"read_file", "file_info"} {
		if skill == "read_file" {
			w.refused(CodeNotRegularFile, skill, args{"path": "fifo"})
		} else {
			require.Contains(t, w.ok(skill, args{"path": "fifo"}).Text, "kind: FIFO")
		}
	}
	w.refused(CodeNotRegularFile, "grep", args{"pattern": "x", "path": "fifo"})

	// Without the guard a FIFO blocks who reads it, until somebody writes.
	blocked := make(chan error)
	go func() {
		_, err := os.ReadFile(w.path("fifo"))
		blocked <- err
	}()
	var writer *os.File
	require.Eventually(t, func() bool { // ENXIO until the reader waits in open
		fd, err := unix.Open(w.path("fifo"), unix.O_WRONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return false
		}
		writer = os.NewFile(uintptr(fd), "fifo")
		return true
	}, deadline, tick)
	select {
	case <-blocked:
		t.Fatal("the FIFO did not block")
	default:
	}
	require.NoError(t, writer.Close())
	require.NoError(t, <-blocked)
	if special == 2 {
		f, err := os.Open(w.path("zero"))
		require.NoError(t, err)
		defer f.Close()
		n, err := io.CopyN(io.Discard, f, 1<<20)
		require.NoError(t, err)
		require.EqualValues(t, 1<<20, n, "without the guard it never ends")
	}
}
