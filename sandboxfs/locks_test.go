//go:build linux

package sandboxfs_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

func lockOf(typ int16, start, length int64) *unix.Flock_t {
	return &unix.Flock_t{Type: typ, Start: start, Len: length}
}

// Locks hold between programs in the view, and against the host.
func TestLocks(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/db=content of the file")
		a, b, host := opened(t, f.in("out/db")), opened(t, f.in("out/db")), opened(t, f.on("out/db"))

		// open file description locks: a and b are two owners
		set := func(file *os.File, cmd int, lk *unix.Flock_t) error { return unix.FcntlFlock(file.Fd(), cmd, lk) }
		require.NoError(t, set(a, unix.F_OFD_SETLK, lockOf(unix.F_WRLCK, 0, 10)))
		require.ErrorIs(t, set(b, unix.F_OFD_SETLK, lockOf(unix.F_RDLCK, 5, 10)), syscall.EAGAIN)
		require.NoError(t, set(b, unix.F_OFD_SETLK, lockOf(unix.F_WRLCK, 10, 5)))
		require.ErrorIs(t, set(host, unix.F_OFD_SETLK, lockOf(unix.F_WRLCK, 0, 1)), syscall.EAGAIN)
		asked := lockOf(unix.F_WRLCK, 0, 1)
		require.NoError(t, set(b, unix.F_OFD_GETLK, asked))
		require.Equal(t, int16(unix.F_WRLCK), asked.Type)
		require.Equal(t, []int64{0, 10}, []int64{asked.Start, asked.Len})

		// a waiter gets it when it is given back, and soon
		got := make(chan error, 1)
		go func() { got <- set(b, unix.F_OFD_SETLKW, lockOf(unix.F_WRLCK, 0, 10)) }()
		select {
		case err := <-got:
			require.Failf(t, "not waited for", "%v", err)
		case <-time.After(50 * time.Millisecond):
		}
		require.NoError(t, set(a, unix.F_OFD_SETLK, lockOf(unix.F_UNLCK, 0, 0)))
		require.NoError(t, <-got)
		require.NoError(t, b.Close(), "closing gives its locks back")
		eventually(t, bound, func() bool {
			return set(host, unix.F_OFD_SETLK, lockOf(unix.F_WRLCK, 0, 0)) == nil
		}, "given back to the host")
		require.ErrorIs(t, set(a, unix.F_OFD_SETLK, lockOf(unix.F_RDLCK, 0, 1)), syscall.EAGAIN)
		require.NoError(t, set(host, unix.F_OFD_SETLK, lockOf(unix.F_UNLCK, 0, 0)))

		// flock
		c := opened(t, f.in("out/db"))
		require.NoError(t, unix.Flock(int(a.Fd()), unix.LOCK_EX))
		require.ErrorIs(t, unix.Flock(int(c.Fd()), unix.LOCK_SH|unix.LOCK_NB), syscall.EAGAIN)
		require.ErrorIs(t, unix.Flock(int(host.Fd()), unix.LOCK_SH|unix.LOCK_NB), syscall.EAGAIN)
		go func() { got <- unix.Flock(int(c.Fd()), unix.LOCK_EX) }()
		require.NoError(t, a.Close())
		require.NoError(t, <-got)
	})
}

// A process's own locks go with its first close(2) of the file.
func TestPosixLockOwner(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/db=content")
		host, err := os.OpenFile(f.on("out/db"), os.O_RDWR, 0)
		require.NoError(t, err)
		defer host.Close()
		held := func() bool {
			return unix.FcntlFlock(host.Fd(), unix.F_OFD_SETLK, lockOf(unix.F_WRLCK, 0, 0)) != nil
		}
		a, err := os.OpenFile(f.in("out/db"), os.O_RDWR, 0)
		require.NoError(t, err)
		b, err := os.OpenFile(f.in("out/db"), os.O_WRONLY, 0)
		require.NoError(t, err)
		require.NoError(t, unix.FcntlFlock(a.Fd(), unix.F_SETLK, lockOf(unix.F_WRLCK, 0, 0)))
		require.NoError(t, unix.FcntlFlock(a.Fd(), unix.F_SETLK, lockOf(unix.F_WRLCK, 0, 5)), "not in its own way")
		require.True(t, held())
		require.NoError(t, b.Close())
		require.False(t, held())
		require.NoError(t, a.Close())
	})
}

// A file may be locked by a process that has it open, whether or not its mode lets it be
// opened again.
func TestLockOfFileMadeReadOnly(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/")
		for name, lock := range map[string]func(file *os.File) error{
			"SETLK":    func(l *os.File) error { return unix.FcntlFlock(l.Fd(), unix.F_SETLK, lockOf(unix.F_WRLCK, 0, 0)) },
			"SETLKW":   func(l *os.File) error { return unix.FcntlFlock(l.Fd(), unix.F_SETLKW, lockOf(unix.F_WRLCK, 0, 0)) },
			"flock":    func(l *os.File) error { return unix.Flock(int(l.Fd()), unix.LOCK_EX|unix.LOCK_NB) },
			"flock, w": func(l *os.File) error { return unix.Flock(int(l.Fd()), unix.LOCK_EX) },
		} {
			for _, mode := range []os.FileMode{0o444, 0o400, 0} {
				file, err := os.OpenFile(f.in("out/l"), os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
				require.NoError(t, err)
				host, err := os.OpenFile(f.on("out/l"), os.O_RDWR, 0)
				require.NoError(t, err)
				require.NoError(t, lock(file), "%s %o", name, mode)
				if name == "flock" {
					require.ErrorIs(t, lock(host), syscall.EAGAIN)
				}
				require.NoError(t, host.Close())
				require.NoError(t, file.Close())
				require.NoError(t, os.Remove(f.in("out/l")))
			}
		}
	})
}
