//go:build linux

package launcher

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// full is a device that nothing can be written to.
func full(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// What the command wrote and cannot be written outside is a failure, and ends the command
// where it would go on writing.
func TestUnwrittenOutputFails(t *testing.T) {
	const noSpace = ": no space left on device\n"
	type streams struct{ out, errOut *os.File }
	cases := map[string]struct {
		command string
		streams streams
		code    int
		said    string
	}{
		"output":           {"echo lost; echo other >&2", streams{out: full(t)}, ExitUnwritten, "other\nwrite standard output" + noSpace},
		"its own code":     {"echo lost; exit 7", streams{out: full(t)}, 7, "write standard output" + noSpace},
		"goes on for ever": {"exec cat /dev/zero", streams{out: full(t)}, 128 + int(unix.SIGPIPE), "write standard output" + noSpace},
		"errors":           {"echo kept; echo lost >&2", streams{errOut: full(t)}, ExitUnwritten, "kept\n"},
		"nothing written":  {"true", streams{out: full(t), errOut: full(t)}, 0, ""},
	}
	check := func(t *testing.T, start func(command string) *exec.Cmd) {
		for name, c := range cases {
			var said bytes.Buffer
			cmd := start(c.command)
			cmd.Stdout, cmd.Stderr = &said, &said
			if c.streams.out != nil {
				cmd.Stdout = c.streams.out
			}
			if c.streams.errOut != nil {
				cmd.Stderr = c.streams.errOut
			}
			require.NoError(t, cmd.Start())
			end(t, cmd)
			assert.Equal(t, c.code, cmd.ProcessState.ExitCode(), name)
			assert.Equal(t, c.said, said.String(), name)
		}
	}
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		check(t, func(command string) *exec.Cmd {
			return supervisor(t, job{UID: uid, Root: root, Command: []string{"sh", "-c", command}})
		})
		j, cmd := running(t, uid, "")
		check(t, func(command string) *exec.Cmd { return joiner(t, j, "sh", "-c", command) })
		require.NoError(t, cmd.Process.Kill())
		end(t, cmd)
	})
}

// That nobody reads any more is the command's to know, and no failure of its own.
func TestUnreadOutputIsNoFailure(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		for command, code := range map[string]int{"echo unread": 0, "exec cat /dev/zero": 128 + int(unix.SIGPIPE)} {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			require.NoError(t, r.Close())
			var errOut bytes.Buffer
			cmd := supervisor(t, job{UID: uid, Root: root, Command: []string{"sh", "-c", command}})
			cmd.Stdout, cmd.Stderr = w, &errOut
			require.NoError(t, cmd.Start())
			require.NoError(t, w.Close())
			end(t, cmd)
			assert.Equal(t, code, cmd.ProcessState.ExitCode(), command)
			assert.Empty(t, errOut.String(), command)
		}
	})
}

// A terminal that cannot be written is told like a file.
func TestUnwrittenTerminalFails(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		s := newScreen(t)
		readOnly, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", s.slave.Fd()), os.O_RDONLY|unix.O_NOCTTY, 0)
		require.NoError(t, err)
		defer readOnly.Close()
		var errOut bytes.Buffer
		cmd := supervisor(t, job{UID: uid, Root: root, Command: []string{"sh", "-c", "trap '' HUP; test -t 1 && echo lost"}})
		s.attach(cmd)
		cmd.Stdout, cmd.Stderr = readOnly, &errOut
		require.NoError(t, cmd.Start())
		end(t, cmd)
		assert.Equal(t, ExitUnwritten, cmd.ProcessState.ExitCode())
		assert.True(t, strings.HasPrefix(errOut.String(), "write to the terminal: "), errOut.String())
	})
}
