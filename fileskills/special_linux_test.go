//go:build !portable

package fileskills

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// TestSpecialFiles: S01, S02, S04. No skill hangs on a FIFO or talks to a
// socket; the same calls on a file succeed.
func TestSpecialFiles(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, syscall.Mkfifo(w.path("out/fifo"), 0o644))
	dir, err := os.MkdirTemp("", "pf") // a socket's path is short
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", dir+"/s")
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.Link(dir+"/s", w.path("out/socket")))
	for _, name := range []string{"out/fifo", "out/socket"} {
		w.refused(CodeNotRegularFile, "write_file", args{"path": name, "content": "x"})
		w.refused(CodeNotRegularFile, "append_file", args{"path": name, "content": "x"})
		w.refused(CodeNotRegularFile, "edit_file", args{"path": name, "old_string": "a", "new_string": "b"})
		w.refused(CodeNotRegularFile, "copy_file", args{"source": name, "destination": "out/copy"})
		w.refused(CodeNotRegularFile, "copy_file", args{"source": "ok.txt", "destination": name, "overwrite": true})
	}
	require.Equal(t, []string{"fifo", "socket"}, w.names("out"))
	w.ok("write_file", args{"path": "out/f", "content": "x"})
	w.ok("copy_file", args{"source": "ok.txt", "destination": "out/f", "overwrite": true})
}

// TestCancelWhileLocked: a call that waits for another process's commit ends
// with ctx, and has changed nothing.
func TestCancelWhileLocked(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "old\n")
	dir, err := os.Open(w.path("out"))
	require.NoError(t, err)
	defer dir.Close()
	require.NoError(t, syscall.Flock(int(dir.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := w.set.Call(ctx, "write_file", json.RawMessage(`{"path":"out/f","content":"new\n"}`))
		done <- err
	}()
	cancel()
	var e *Error
	require.ErrorAs(t, <-done, &e)
	require.Equal(t, CodeCancelled, e.Code)
	require.Equal(t, "old\n", w.read("out/f"))
	require.NoError(t, syscall.Flock(int(dir.Fd()), syscall.LOCK_UN))
	w.ok("write_file", args{"path": "out/f", "content": "new\n"})
	require.Equal(t, "new\n", w.read("out/f"))
}

// TestHardLinks: W25, B29. A second name elsewhere keeps its content.
func TestHardLinks(t *testing.T) {
	for _, links := range []pathresolver.HardLinks{pathresolver.HardLinksDeny, pathresolver.HardLinksBreak, pathresolver.HardLinksAllow} {
		w := newWorldWith(t, pathresolver.Config{WritePaths: []string{"out"}, HardLinks: links})
		require.NoError(t, os.Link(w.path("ok.txt"), w.path("out/h")))
		call := args{"path": "out/h", "old_string": "ok", "new_string": "new"}
		switch links {
		case pathresolver.HardLinksDeny:
			w.refused(CodePathBlocked, "edit_file", call)
			require.Equal(t, "ok\n", w.read("out/h"))
		case pathresolver.HardLinksBreak:
			w.ok("edit_file", call)
			require.Equal(t, "new\n", w.read("out/h"))
			require.Equal(t, "ok\n", w.read("ok.txt"))
		case pathresolver.HardLinksAllow:
			w.ok("edit_file", call)
			require.Equal(t, "new\n", w.read("ok.txt"))
		}
	}
}
