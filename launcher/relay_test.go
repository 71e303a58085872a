//go:build linux

package launcher

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A command that stuffs its own standard input must not move the caller's
// file to before where the run began: a shell reads its script there.
func TestStuffedInputMovesNothingBack(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		script := filepath.Join(t.TempDir(), "script")
		require.NoError(t, os.WriteFile(script, []byte("# harmless; touch HACKED\nnext\n"), 0o600))
		for name, c := range map[string]struct {
			command []string
			want    int64
		}{
			"stuffed": {[]string{"sh", "-c", "head -c 1000 /dev/zero 1<>/proc/self/fd/0"}, 25},
			"honest":  {[]string{"true"}, 25},
			"reader":  {[]string{"cat"}, 30},
		} {
			in, err := os.Open(script)
			require.NoError(t, err)
			_, err = in.Seek(25, io.SeekStart)
			require.NoError(t, err)
			got := run(t, job{UID: uid, Root: root, Command: c.command}, in)
			assert.Zero(t, got.code, "%s: %s", name, got.errOut)
			at, err := in.Seek(0, io.SeekCurrent)
			require.NoError(t, err)
			assert.Equal(t, c.want, at, name)
			in.Close()
		}
	})
}

func TestGiveBackIsBounded(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer f.Close()
	at := func() int64 {
		n, err := f.Seek(0, io.SeekCurrent)
		require.NoError(t, err)
		return n
	}
	f.Seek(100, io.SeekStart)
	giveBack(f, 60, 40, 10)
	assert.EqualValues(t, 90, at())
	f.Seek(100, io.SeekStart)
	giveBack(f, 60, 40, 1000)
	assert.EqualValues(t, 60, at(), "never to before the start")
	f.Seek(80, io.SeekStart)
	giveBack(f, 60, 40, 10)
	assert.EqualValues(t, 80, at(), "moved by somebody else meanwhile")
}

// A socket as a stream is relayed like any other: the command gets a pipe.
func TestSocketIsNotHandedOver(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
		defer theirs.Close()
		_, err = ours.WriteString("over a socket\n")
		require.NoError(t, err)
		require.NoError(t, ours.Close())
		got := run(t, job{UID: uid, Root: root, Command: []string{"sh", "-c", "test -p /dev/stdin && cat"}}, theirs)
		assert.Equal(t, outcome{0, "over a socket\n", ""}, got)
	})
}
