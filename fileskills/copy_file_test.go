package fileskills

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCopyFile(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.Chmod(w.path("ok.txt"), 0o751))
	res := w.ok("copy_file", args{"source": "ok.txt", "destination": "out/d/copy"}) // W11
	require.Equal(t, "Copied ok.txt to out/d/copy: 3 bytes.", res.Text)
	require.Equal(t, "ok\n", w.read("out/d/copy"))
	info, err := os.Stat(w.path("out/d/copy"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o751), info.Mode().Perm())

	w.write("out/f", "old\n")
	require.NoError(t, os.Chmod(w.path("out/f"), 0o600))
	w.refused(CodeAlreadyExists, "copy_file", args{"source": "ok.txt", "destination": "out/f"})
	require.Equal(t, "old\n", w.read("out/f"))
	w.ok("copy_file", args{"source": "ok.txt", "destination": "out/f", "overwrite": true})
	require.Equal(t, "ok\n", w.read("out/f"))
	info, err = os.Stat(w.path("out/f"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "who replaces content does not change who may read it")
}

// TestCopyFileOntoItself: by whatever name, nothing is lost.
func TestCopyFileOntoItself(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "content\n")
	require.NoError(t, os.Symlink("f", w.path("out/link")))
	for _, destination := range []string{"out/f", "out/link", "out/./f", w.path("out/f")} {
		for _, overwrite := range []bool{true, false} {
			w.refused(CodeInvalidArgument, "copy_file", args{"source": "out/f", "destination": destination, "overwrite": overwrite})
			require.Equal(t, "content\n", w.read("out/f"))
		}
	}
	w.ok("copy_file", args{"source": "out/link", "destination": "out/g"})
	require.Equal(t, "content\n", w.read("out/g"))
}

func TestCopyFileOfOther(t *testing.T) {
	w := newWorld(t)
	w.refused(CodeIsDirectory, "copy_file", args{"source": "out", "destination": "out/x"})
	e := w.refused(CodeIsDirectory, "copy_file", args{"source": "ok.txt", "destination": "out"})
	require.Equal(t, "Give the full new name: out/ok.txt", e.Hint)
	w.refused(CodeNotFound, "copy_file", args{"source": "none", "destination": "out/x"})
	require.Empty(t, w.names("out"))
}
