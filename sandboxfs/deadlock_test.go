//go:build linux

package sandboxfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// lockInChild locks what it reads, a line each, of files beneath dir, and says what came
// of it. It opens each file once.
func lockInChild(dir string) error {
	open := map[string]int{}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var name string
		var cmd int
		var lk unix.Flock_t
		var apart bool // by a thread of its own
		if _, err := fmt.Sscan(in.Text(), &name, &cmd, &lk.Type, &lk.Start, &lk.Len, &apart); err != nil {
			return err
		}
		if _, ok := open[name]; !ok {
			fd, err := unix.Open(filepath.Join(dir, name), unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			open[name] = fd
		}
		done := make(chan error, 1)
		do := func() {
			runtime.LockOSThread()
			if cmd == unix.LOCK_EX {
				done <- unix.Flock(open[name], cmd)
			} else {
				done <- unix.FcntlFlock(uintptr(open[name]), cmd, &lk)
			}
		}
		if apart {
			go do()
		} else {
			do()
		}
		err := <-done
		var e syscall.Errno
		errors.As(err, &e)
		fmt.Println(int(e))
	}
	return nil
}

// locking is a process that takes locks.
type locking struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader

	apart bool // each request by a thread of its own
}

func lockingIn(t *testing.T, dir string) *locking {
	t.Helper()
	cmd := inChild("lock", dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &locking{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	t.Cleanup(p.end)
	return p
}

func (p *locking) end() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// asks has the process begin to lock ten bytes.
func (p *locking) asks(name string, cmd int, typ int16, start int64) {
	p.t.Helper()
	_, err := fmt.Fprintln(p.in, name, cmd, typ, start, 10, p.apart)
	require.NoError(p.t, err)
}

// lockWaits returns once so many wait for a lock.
func lockWaits(t *testing.T, f *fixture, count int) {
	t.Helper()
	eventually(t, bound, func() bool { return f.v.LockWaits() == count }, "waiting for a lock: "+itoa(count))
}

// got is what came of it.
func (p *locking) got() error {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	require.NoError(p.t, err)
	var e int
	_, err = fmt.Sscan(line, &e)
	require.NoError(p.t, err)
	if e != 0 {
		return syscall.Errno(e)
	}
	return nil
}

func (p *locking) does(name string, cmd int, typ int16, start int64) error {
	p.t.Helper()
	p.asks(name, cmd, typ, start)
	return p.got()
}

// Who would wait for itself by way of others gets EDEADLK, and the others go on.
func TestDeadlock(t *testing.T) {
	type place struct {
		name  string
		start int64
	}
	cases := map[string][]place{
		"one file":                 {{"out/a", 0}, {"out/a", 10}},
		"two files":                {{"out/a", 0}, {"out/b", 0}},
		"two write paths":          {{"out/a", 0}, {"more/b", 0}},
		"three processes":          {{"out/a", 0}, {"out/b", 0}, {"out/a", 20}},
		"four, in two write paths": {{"out/a", 0}, {"more/b", 0}, {"out/b", 0}, {"more/b", 20}},
	}
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out", "more"}}, "out/a=", "out/b=", "more/b=")
		for name, places := range cases {
			t.Run(name, func(t *testing.T) {
				all := make([]*locking, len(places))
				for i, at := range places {
					all[i] = lockingIn(t, f.mnt)
					require.NoError(t, all[i].does(at.name, unix.F_SETLK, unix.F_WRLCK, at.start))
				}
				last := len(all) - 1
				for i, p := range all[:last] {
					p.asks(places[i+1].name, unix.F_SETLKW, unix.F_WRLCK, places[i+1].start)
					lockWaits(t, f, i+1)
				}
				require.ErrorIs(t, all[last].does(places[0].name, unix.F_SETLKW, unix.F_RDLCK, places[0].start), unix.EDEADLK)
				require.NoError(t, all[last].does(places[last].name, unix.F_SETLK, unix.F_UNLCK, places[last].start), "it has kept its own")
				for i := last - 1; i >= 0; i-- {
					err := all[i].got()
					require.NoError(t, err)
					all[i].end()
				}
			})
		}
	})
}

// A process with several threads is stuck as a whole where it is known to be one: they
// take and wait for locks of two files.
func TestDeadlockOfThreads(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=", "out/b=")
		p, q := lockingIn(t, f.mnt), lockingIn(t, f.mnt)
		require.NoError(t, p.does("out/a", unix.F_SETLK, unix.F_WRLCK, 0))
		require.NoError(t, q.does("out/b", unix.F_SETLK, unix.F_WRLCK, 0))
		p.asks("out/b", unix.F_SETLKW, unix.F_WRLCK, 0)
		lockWaits(t, f, 1)
		q.apart = true
		require.ErrorIs(t, q.does("out/a", unix.F_SETLKW, unix.F_WRLCK, 0), unix.EDEADLK)
	})
}

// Locks of open files wait for each other: another thread may give them back. So does
// flock(2).
func TestNoDeadlock(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		// A lock's owner waits for nobody else only on another thread than the one that
		// gives it back: this one keeps its own.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=", "out/b=")
		a, b := opened(t, f.in("out/a")), opened(t, f.in("out/a"))
		set := func(file *os.File, cmd int, typ int16, start int64) error {
			return unix.FcntlFlock(file.Fd(), cmd, lockOf(typ, start, 10))
		}
		require.NoError(t, set(a, unix.F_OFD_SETLK, unix.F_WRLCK, 0))
		require.NoError(t, set(b, unix.F_OFD_SETLK, unix.F_WRLCK, 10))
		waits := func(file *os.File, start int64, count int) chan error {
			got := make(chan error, 1)
			go func() {
				runtime.LockOSThread()
				got <- set(file, unix.F_OFD_SETLKW, unix.F_WRLCK, start)
			}()
			lockWaits(t, f, count)
			return got
		}
		gotA, gotB := waits(a, 10, 1), waits(b, 0, 2)
		require.NoError(t, set(b, unix.F_OFD_SETLK, unix.F_UNLCK, 10))
		require.NoError(t, <-gotA)
		require.NoError(t, set(a, unix.F_OFD_SETLK, unix.F_UNLCK, 0))
		require.NoError(t, <-gotB)
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())

		p, q := lockingIn(t, f.mnt), lockingIn(t, f.mnt)
		require.NoError(t, p.does("out/a", unix.LOCK_EX, 0, 0))
		require.NoError(t, q.does("out/b", unix.LOCK_EX, 0, 0))
		p.asks("out/b", unix.LOCK_EX, 0, 0)
		lockWaits(t, f, 1)
		q.asks("out/a", unix.LOCK_EX, 0, 0)
		lockWaits(t, f, 2)
		q.end()
		err := p.got()
		require.NoError(t, err)
	})
}

// A process of the host takes no part, also when it waits for one in the view.
func TestNoDeadlockWithHost(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=", "out/b=")
		p, host := lockingIn(t, f.mnt), lockingIn(t, f.root)
		require.NoError(t, p.does("out/a", unix.F_SETLK, unix.F_WRLCK, 0))
		require.NoError(t, host.does("out/b", unix.F_SETLK, unix.F_WRLCK, 0))
		host.asks("out/a", unix.F_SETLKW, unix.F_WRLCK, 0)
		p.asks("out/b", unix.F_SETLKW, unix.F_WRLCK, 0)
		lockWaits(t, f, 1)
		host.end()
		err := p.got()
		require.NoError(t, err)
	})
}

func opened(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}

// F_GETLK says who is in the way: a process in the view, or on the host.
func TestLockHolder(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=", "out/b=")
		p, q, host := lockingIn(t, f.mnt), lockingIn(t, f.mnt), lockingIn(t, f.root)
		file := opened(t, f.in("out/a"))
		ask := func(cmd int, start, length int64) []int64 {
			lk := lockOf(unix.F_WRLCK, start, length)
			require.NoError(t, unix.FcntlFlock(file.Fd(), cmd, lk))
			return []int64{int64(lk.Type), lk.Start, lk.Len, int64(lk.Pid)}
		}
		pid := func(l *locking) int64 { return int64(l.cmd.Process.Pid) }
		require.NoError(t, p.does("out/a", unix.F_SETLK, unix.F_WRLCK, 0))
		require.NoError(t, q.does("out/a", unix.F_SETLK, unix.F_RDLCK, 20))
		require.Equal(t, []int64{unix.F_WRLCK, 0, 10, pid(p)}, ask(unix.F_GETLK, 5, 1))
		require.Equal(t, []int64{unix.F_RDLCK, 20, 10, pid(q)}, ask(unix.F_GETLK, 20, 0))
		require.Equal(t, []int64{unix.F_WRLCK, 0, 10, -1}, ask(unix.F_OFD_GETLK, 5, 1))
		require.NoError(t, p.does("out/a", unix.F_SETLK, unix.F_UNLCK, 0))
		require.Equal(t, int64(unix.F_UNLCK), ask(unix.F_GETLK, 5, 1)[0])

		require.NoError(t, host.does("out/a", unix.F_SETLK, unix.F_WRLCK, 40))
		require.Equal(t, []int64{unix.F_WRLCK, 40, 10, pid(host)}, ask(unix.F_GETLK, 40, 1))
		require.NoError(t, host.does("out/a", unix.F_OFD_SETLK, unix.F_WRLCK, 60))
		require.Equal(t, []int64{unix.F_WRLCK, 60, 10, 0}, ask(unix.F_GETLK, 60, 1), "the host's open file")
	})
}

// Many that wait for one lock get it one after the other, and one that is interrupted
// leaves the others alone.
func TestLockQueue(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=")
		first := lockingIn(t, f.mnt)
		require.NoError(t, first.does("out/a", unix.F_SETLK, unix.F_WRLCK, 0))
		var all []*locking
		for i, typ := range []int16{unix.F_RDLCK, unix.F_WRLCK, unix.F_WRLCK, unix.F_RDLCK, unix.F_WRLCK} {
			p := lockingIn(t, f.mnt)
			p.asks("out/a", unix.F_SETLKW, typ, int64(i))
			lockWaits(t, f, i+1)
			all = append(all, p)
		}
		all[1].end()
		require.NoError(t, first.does("out/a", unix.F_SETLK, unix.F_RDLCK, 0), "weaker")
		for _, i := range []int{0, 3} { // the others want to write
			err := all[i].got()
			require.NoError(t, err)
		}
		first.end()
		all[0].end()
		all[3].end()
		for _, i := range []int{2, 4} {
			err := all[i].got()
			require.NoError(t, err)
			all[i].end()
		}
	})
}

// Who waits for the host as well keeps nobody else waiting.
func TestLockQueueBehindHost(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=")
		host, first, both, last := lockingIn(t, f.root), lockingIn(t, f.mnt), lockingIn(t, f.mnt), lockingIn(t, f.mnt)
		require.NoError(t, host.does("out/a", unix.F_SETLK, unix.F_WRLCK, 0))
		require.NoError(t, first.does("out/a", unix.F_SETLK, unix.F_WRLCK, 10))
		both.asks("out/a", unix.F_SETLKW, unix.F_WRLCK, 5)
		lockWaits(t, f, 1)
		last.asks("out/a", unix.F_SETLKW, unix.F_WRLCK, 10)
		lockWaits(t, f, 2)
		require.NoError(t, first.does("out/a", unix.F_SETLK, unix.F_UNLCK, 10))
		err := last.got()
		require.NoError(t, err)
		require.NoError(t, host.does("out/a", unix.F_SETLK, unix.F_UNLCK, 0))
		require.NoError(t, last.does("out/a", unix.F_SETLK, unix.F_UNLCK, 10))
		err = both.got()
		require.NoError(t, err)
	})
}
