package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The test binary is also a client, as another process.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "stop" {
		r := Record{ID: os.Args[2]}
		c, p, err := r.dial()
		if err == nil {
			var got reply
			p.close()
			err = errors.Join(say(c, order{Do: "nonsense"}), hear(c, &got))
			fmt.Println(got.Error)
		}
		if err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// begun is a run of this process that obeys.
func begun(t *testing.T, name string) *Run {
	t.Helper()
	l, err := Begin(Record{Name: name, Root: "/project", Command: "true"})
	require.NoError(t, err)
	require.NotNil(t, l)
	l.Serve(Obeys{})
	t.Cleanup(l.Close)
	return l
}

// asked is what a client in a process of its own is told.
func asked(t *testing.T, id string, as *syscall.SysProcAttr) string {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "stop", id)
	cmd.SysProcAttr = as
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// A run obeys its user from outside of every run. The same user in a process namespace
// beneath, as everybody inside a run is, is refused, and so is another user.
func TestWhomARunObeys(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	l := begun(t, "one")
	require.Contains(t, asked(t, l.ID(), nil), "knows no 'nonsense'", "the control: it is heard")

	beneath := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	if os.Geteuid() != 0 {
		beneath.Cloneflags |= unix.CLONE_NEWUSER
		beneath.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	}
	got := asked(t, l.ID(), beneath)
	require.Contains(t, got, "a run obeys the user who started it")
	require.NotContains(t, got, "nonsense")

	if os.Geteuid() == 0 {
		other := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1234, Gid: 1234}}
		require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(l.dir)), 0o755))
		for _, mode := range []os.FileMode{0o700, 0o777} { // also where somebody has opened everything
			for at := l.dir; at != "/"; at = filepath.Dir(at) {
				if info, err := os.Stat(at); err == nil && (mode == 0o700) == (at == l.dir) && info.Mode().Perm()&0o077 == 0 {
					require.NoError(t, os.Chmod(at, mode))
				}
			}
			require.NoError(t, os.Chmod(filepath.Join(l.dir, socketFile), 0o777))
			got := asked(t, l.ID(), other)
			require.NotContains(t, got, "nonsense")
		}
	}
}

// What others could have put there is not used.
func TestDirectoryOfOthers(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_STATE_HOME", base)
	l := begun(t, "")
	list, err := List(false)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, os.Getpid(), list[0].PID)
	require.NoError(t, os.Chmod(filepath.Dir(l.dir), 0o755))
	_, err = List(false)
	require.ErrorContains(t, err, "can be entered by others")
	require.NoError(t, os.Chmod(filepath.Dir(l.dir), 0o700))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(filepath.Dir(l.dir), 1234, -1))
		_, err = List(false)
		require.ErrorContains(t, err, "belongs to user 1234")
		require.NoError(t, os.Chown(filepath.Dir(l.dir), 0, -1))
	}
}

// A run is named by its id, the end of that, or its name; one that has ended is told
// apart, and one that was killed is no run, and its socket goes.
func TestNames(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	require.Empty(t, Names(true))
	one, two, other := begun(t, "build"), begun(t, "build"), begun(t, "test")
	_, err := Find("build")
	require.ErrorContains(t, err, "2 runs are called 'build'")
	for _, word := range []string{one.ID(), one.ID()[len("20261123T225505Z-"):]} {
		r, err := Find(word)
		require.NoError(t, err)
		require.Equal(t, one.ID(), r.ID)
	}
	for _, word := range []string{"", "nonsense", "..", "../" + one.ID(), "20261123T225505Z"} {
		_, err := Find(word)
		require.ErrorContains(t, err, "there is no run", word)
	}
	one.End(3, "")
	r, err := Find("build")
	require.NoError(t, err)
	require.Equal(t, two.ID(), r.ID, "the one that goes on")
	_, err = (&Record{ID: one.ID()}).Stop(context.Background(), 0)
	require.ErrorContains(t, err, "has ended")

	// As after kill -9: nobody listens, and nothing was tidied up.
	require.NoError(t, other.socket.Close())
	require.FileExists(t, filepath.Join(other.dir, socketFile))
	list, err := List(false)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoFileExists(t, filepath.Join(other.dir, socketFile))
	all, err := List(true)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, 3, all[0].Code)
}

// Whoever waits for the end is told of it.
func TestStopIsTold(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	l := begun(t, "")
	told := make(chan reply, 1)
	go func() {
		c, p, err := (&Record{ID: l.ID()}).dial()
		if err == nil {
			defer p.close()
			var got reply
			if err = errors.Join(say(c, order{Do: doStop}), hear(c, &got)); err == nil {
				told <- got
			}
		}
		close(told)
	}()
	require.Eventually(t, func() bool { return len(l.room) > 0 }, time.Minute, time.Millisecond)
	l.End(7, "x")
	require.Equal(t, reply{Ended: true, Code: 7, Left: "x"}, <-told)
}
