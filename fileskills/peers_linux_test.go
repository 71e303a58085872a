//go:build !portable

package fileskills

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The rest of what peers get wrong (edit_peers_test.go has what edits do), each
// beside a straightforward implementation that does.

// patience is how long a call gets that must not hang, and briefly how long one
// gets that is to be seen hanging.
const (
	patience = time.Minute
	briefly  = 200 * time.Millisecond
)

// ends reports whether f returns in time.
func ends(f func(), in time.Duration) bool {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
		return true
	case <-time.After(in):
		return false
	}
}

// TestPeersFIFO: reading a FIFO that nobody writes does not hang.
func TestPeersFIFO(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, syscall.Mkfifo(w.path("pipe"), 0o644))
	hangs := func() { _, _ = os.ReadFile(w.path("pipe")) }
	require.False(t, ends(hangs, briefly), "the plain one does not hang")
	writer, err := os.OpenFile(w.path("pipe"), os.O_RDWR, 0) // lets the plain one go
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	require.True(t, ends(func() { w.refused(CodeNotRegularFile, "read_file", args{"path": "pipe"}) }, patience))
	require.True(t, ends(func() { w.ok("grep", args{"pattern": "x"}) }, patience))
}

// TestPeersDanglingLink: a link whose target does not exist is no way to make a
// file outside (B10). The plain one resolves the path, and where that fails
// because nothing is there checks the parent instead.
func TestPeersDanglingLink(t *testing.T) {
	plain := func(root, name, content string) error {
		path := filepath.Join(root, name)
		if _, err := filepath.EvalSymlinks(path); err != nil {
			parent, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil || !strings.HasPrefix(parent, root) {
				return os.ErrPermission
			}
		}
		return os.WriteFile(path, []byte(content), 0o644)
	}
	w := newWorld(t)
	root, err := filepath.EvalSymlinks(w.root)
	require.NoError(t, err)
	require.NoError(t, os.Symlink("../../outside/new", w.path("out/l")))
	outside := filepath.Join(w.base, "outside", "new")
	require.NoError(t, plain(root, "out/l", "evil"))
	require.FileExists(t, outside, "the plain one does not escape")
	require.NoError(t, os.Remove(outside))
	w.refused(CodeSymlinkEscape, "write_file", args{"path": "out/l", "content": "evil"})
	require.NoFileExists(t, outside)
}

// TestPeersCopyOntoItself: a copy onto itself does not empty the file, also
// where the second name is a link to the first.
func TestPeersCopyOntoItself(t *testing.T) {
	plain := func(from, to string) {
		src, err := os.Open(from)
		require.NoError(t, err)
		defer src.Close()
		dst, err := os.Create(to)
		require.NoError(t, err)
		defer dst.Close()
		_, err = io.Copy(dst, src)
		require.NoError(t, err)
	}
	w := newWorld(t)
	w.write("out/f", "keep\n")
	require.NoError(t, os.Symlink("f", w.path("out/l")))
	for _, to := range []string{"out/f", "out/./f", "out/l"} {
		w.refused(CodeInvalidArgument, "copy_file", args{"source": "out/f", "destination": to, "overwrite": true})
		require.Equal(t, "keep\n", w.read("out/f"))
	}
	plain(w.path("out/f"), w.path("out/l"))
	require.Empty(t, w.read("out/f"), "the plain one loses nothing")
}

// TestPeersUnknownArgument: a misspelt argument is not ignored.
func TestPeersUnknownArgument(t *testing.T) {
	input := `{"path":"ok.txt","old_string":"ok","new_string":"no","replaceAll":true}`
	var plain struct {
		Path       string `json:"path"`
		ReplaceAll bool   `json:"replace_all"`
	}
	require.NoError(t, json.Unmarshal([]byte(input), &plain))
	require.False(t, plain.ReplaceAll, "the plain one notices")
	w := newWorld(t)
	_, err := w.set.Call(t.Context(), "edit_file", json.RawMessage(strings.Replace(input, "ok.txt", "out/f", 1)))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, CodeInvalidArgument, e.Code)
	require.Contains(t, e.Error(), "replace_all", "it says what was meant")
}

// TestPeersLargeRead: reading a file of 10 MiB does not send it, let alone
// twice.
func TestPeersLargeRead(t *testing.T) {
	w := newWorld(t)
	content := strings.Repeat(strings.Repeat("x", 79)+"\n", 10<<20/80)
	w.write("big", content)
	plain, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": content}}, "structuredContent": map[string]any{"content": content}})
	require.NoError(t, err)
	require.Greater(t, len(plain), 20<<20, "the plain one is small")
	res := w.ok("read_file", args{"path": "big"})
	sent, err := json.Marshal(res)
	require.NoError(t, err)
	require.Less(t, len(sent), 200<<10)
	require.True(t, res.Meta.Truncated)
	require.Equal(t, strings.Count(content, "\n"), *res.Meta.Total)
}
