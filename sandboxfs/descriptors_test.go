//go:build linux

package sandboxfs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// openManyInChild opens a file until that fails, each time by another thread, tells how
// often and why, and ends with its standard input.
func openManyInChild(path string) error {
	count := 0
	var last error
	for last == nil {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // which ends with it
			_, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			done <- err
		}()
		if last = <-done; last == nil {
			count++
		}
	}
	fmt.Println(count, int(last.(syscall.Errno)))
	_, _ = os.Stdin.Read(make([]byte, 1))
	return nil
}

// openMany starts a program that does that, and returns how many it got.
func openMany(t *testing.T, path string) (count int, end func()) {
	t.Helper()
	greedy := inChild("open-many", path)
	stdin, err := greedy.StdinPipe()
	require.NoError(t, err)
	stdout, err := greedy.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, greedy.Start())
	end = sync.OnceFunc(func() { stdin.Close(); _ = greedy.Wait() })
	t.Cleanup(end)
	var errno int
	_, err = fmt.Fscan(stdout, &count, &errno)
	require.NoError(t, err)
	require.Equal(t, unix.EMFILE, syscall.Errno(errno))
	return count, end
}

// One program, or several, that open as many files as they can leave enough for others,
// and all is free again when they have ended.
func TestGreedyPrograms(t *testing.T) {
	base, server := otherProcess(t)
	mnt := filepath.Join(base, "mnt")
	var old unix.Rlimit
	require.NoError(t, unix.Prlimit(server.Process.Pid, unix.RLIMIT_NOFILE, nil, &old))
	const limit = 2000
	require.NoError(t, unix.Prlimit(server.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: old.Max}, nil))
	var got []int
	var ends []func()
	for i := range 3 {
		count, end := openMany(t, filepath.Join(mnt, "out/x"))
		got, ends = append(got, count), append(ends, end)
		require.Greater(t, count, limit/50)

		name := filepath.Join(mnt, "out", itoa(i))
		require.NoError(t, os.Mkdir(name, 0o755))
		require.NoError(t, write(filepath.Join(name, "new"), "content"))
		require.NoError(t, os.Rename(filepath.Join(name, "new"), filepath.Join(name, "moved")))
		locks := opened(t, filepath.Join(name, "moved"))
		require.NoError(t, unix.FcntlFlock(locks.Fd(), unix.F_SETLK, lockOf(unix.F_WRLCK, 0, 0)))
		require.NoError(t, unix.Flock(int(locks.Fd()), unix.LOCK_EX))
		out, err := exec.Command("/bin/sh", "-c", `ls -lR "$1" && cat "$1"/out/x "$1"/src/x`, "sh", mnt).CombinedOutput()
		require.NoError(t, err, string(out))
		require.NoError(t, os.RemoveAll(name))
		require.NoError(t, locks.Close())
	}
	require.Less(t, got[0], limit)
	require.Greater(t, got[0], got[1], "there is less for each")
	require.Greater(t, got[1], got[2])
	for _, end := range ends {
		end()
	}
	eventually(t, bound, func() bool {
		count, end := openMany(t, filepath.Join(mnt, "out/x"))
		end()
		return count == got[0]
	}, "given back")
}
