//go:build linux

package sandboxfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// locker is a descriptor that takes locks, in the view or outside.
type locker struct {
	*os.File
	t *testing.T
}

func (f *fixture) locker(path string) locker {
	return locker{opened(f.t, path), f.t}
}

func (l locker) lock(typ int16) error {
	return unix.FcntlFlock(l.Fd(), unix.F_OFD_SETLK, lockOf(typ, 0, 1))
}

func (l locker) flock(typ int16) error {
	how := map[int16]int{unix.F_RDLCK: unix.LOCK_SH, unix.F_WRLCK: unix.LOCK_EX, unix.F_UNLCK: unix.LOCK_UN}[typ]
	return unix.Flock(int(l.Fd()), how|unix.LOCK_NB)
}

func (l locker) mustLock(typ int16) {
	l.t.Helper()
	require.NoError(l.t, l.lock(typ))
}

// asked is the type of the lock that would be in the way.
func (l locker) asked(typ int16) int16 {
	l.t.Helper()
	lk := lockOf(typ, 0, 1)
	require.NoError(l.t, unix.FcntlFlock(l.Fd(), unix.F_OFD_GETLK, lk))
	return lk.Type
}

// content is all of "count N".
func (l locker) content() string {
	l.t.Helper()
	b := make([]byte, len("count N"))
	_, err := l.ReadAt(b, 0)
	require.NoError(l.t, err)
	return string(b)
}

// mapInChild maps a file of seven bytes and does what it reads, a line each: lock it
// ("posix" and "flock", with a type), say what read(2) and what the map gives, or write
// one byte to the map. It says an error number and what it has got.
func mapInChild(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	m, err := unix.Mmap(int(file.Fd()), 0, 7, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	l := locker{File: file}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var verb string
		var arg int16
		if _, err := fmt.Sscan(in.Text(), &verb, &arg); err != nil {
			return err
		}
		var text string
		var err error
		switch verb {
		case "posix":
			err = l.lock(arg)
		case "flock":
			err = l.flock(arg)
		case "read":
			b := make([]byte, len(m))
			_, err = file.ReadAt(b, 0)
			text = string(b)
		case "map":
			text = string(m)
		case "write":
			m[6] = byte(arg)
		}
		var number syscall.Errno
		if err != nil && !errors.As(err, &number) {
			return err
		}
		fmt.Printf("%d %s\n", int(number), text)
	}
	return nil
}

// mapping is a process with a map of a file: in the process that serves the view a page
// fault would stop what answers it.
type mapping struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func mappingOf(t *testing.T, path string) *mapping {
	t.Helper()
	cmd := inChild("map", path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &mapping{t, in, bufio.NewReader(out)}
}

// does one thing, and returns what it gave.
func (m *mapping) does(verb string, arg int16) (string, error) {
	m.t.Helper()
	_, err := fmt.Fprintln(m.in, verb, arg)
	require.NoError(m.t, err)
	line, err := m.out.ReadString('\n')
	require.NoError(m.t, err)
	number, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	if number != "0" {
		n, err := strconv.Atoi(number)
		require.NoError(m.t, err)
		return "", syscall.Errno(n)
	}
	return text, nil
}

func (m *mapping) must(verb string, arg int16) string {
	m.t.Helper()
	text, err := m.does(verb, arg)
	require.NoError(m.t, err)
	return text
}

// Who has got a lock reads what the host wrote under it a moment ago, by read(2) and by
// a map. A database that went on with what it had read before lost the host's commits.
func TestLockShowsWhatTheHostWrote(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/db=count 0")
		in, host := mappingOf(t, f.in("out/db")), f.locker(f.on("out/db"))
		for i := range 50 {
			how, hostLocks, typ := "posix", host.lock, int16(unix.F_RDLCK)
			if i%2 == 1 {
				how, hostLocks = "flock", host.flock
			}
			in.must("read", 0) // it knows what was there
			require.Equal(t, in.must("read", 0), in.must("map", 0))
			require.NoError(t, hostLocks(unix.F_WRLCK))
			now := "count " + itoa(i%10)
			_, err := host.WriteAt([]byte(now), 0)
			require.NoError(t, err)
			_, err = in.does(how, typ)
			require.ErrorIs(t, err, syscall.EAGAIN)
			require.NoError(t, hostLocks(unix.F_UNLCK))
			in.must(how, typ)
			require.Equal(t, now, in.must("read", 0))
			require.Equal(t, now, in.must("map", 0))
			in.must(how, unix.F_UNLCK)
		}
	})
}

// What was written to a map under a lock is in the file when the lock is given back.
func TestUnlockWritesMaps(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/db=count 0")
		in, host := mappingOf(t, f.in("out/db")), f.locker(f.on("out/db"))
		for i := range 50 {
			in.must("posix", unix.F_WRLCK)
			in.must("write", int16('0'+i%10))
			in.must("posix", unix.F_UNLCK)
			host.mustLock(unix.F_WRLCK)
			require.Equal(t, "count "+itoa(i%10), host.content())
			host.mustLock(unix.F_UNLCK)
		}
	})
}

// A database that shares memory by a map of a file is open in the view or outside, and
// not on both sides at once, unless they share the map: each would lose what the other
// commits.
func TestMapGuard(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		var mu sync.Mutex
		var told []sandboxfs.Refusal
		o.OnRefusal = func(r sandboxfs.Refusal) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, r)
		}
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/db-shm=index", "out/db=data")
		probe := f.locker(f.in("out/db"))
		passes := f.v.Stats().Backing > 0 // the kernel moves the data
		require.NoError(t, probe.Close())

		// Other files, and all with maps of the same pages, are shared.
		shared := []string{"out/db"}
		if passes {
			shared = append(shared, "out/db-shm")
		}
		for _, name := range shared {
			in, host := f.locker(f.in(name)), f.locker(f.on(name))
			in.mustLock(unix.F_RDLCK)
			host.mustLock(unix.F_RDLCK)
			require.NoError(t, in.Close())
			require.NoError(t, host.Close())
		}
		if passes {
			return
		}

		// The view first.
		a, b, host := f.locker(f.in("out/db-shm")), f.locker(f.in("out/db-shm")), f.locker(f.on("out/db-shm"))
		require.Equal(t, int16(unix.F_UNLCK), a.asked(unix.F_WRLCK))
		a.mustLock(unix.F_RDLCK)
		require.ErrorIs(t, host.lock(unix.F_RDLCK), syscall.EAGAIN)
		require.Equal(t, int16(unix.F_WRLCK), host.asked(unix.F_RDLCK))
		// In the view all is as without a guard.
		b.mustLock(unix.F_RDLCK)
		require.ErrorIs(t, b.lock(unix.F_WRLCK), syscall.EAGAIN)
		require.Equal(t, int16(unix.F_RDLCK), b.asked(unix.F_WRLCK))
		require.Equal(t, int16(unix.F_UNLCK), b.asked(unix.F_RDLCK))
		a.mustLock(unix.F_UNLCK)
		b.mustLock(unix.F_WRLCK)
		got := make(chan error, 1)
		go func() { got <- unix.FcntlFlock(a.Fd(), unix.F_OFD_SETLKW, lockOf(unix.F_WRLCK, 0, 1)) }()
		require.NoError(t, b.Close())
		require.NoError(t, <-got)
		require.ErrorIs(t, host.lock(unix.F_RDLCK), syscall.EAGAIN)
		require.NoError(t, a.Close())
		eventually(t, bound, func() bool { return host.lock(unix.F_RDLCK) == nil }, "given back to the host")

		// The host first.
		a = f.locker(f.in("out/db-shm"))
		require.Equal(t, int16(unix.F_RDLCK), a.asked(unix.F_WRLCK))
		require.ErrorIs(t, a.lock(unix.F_RDLCK), syscall.EAGAIN)
		eventually(t, bound, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(told) == 1
		}, "it is told")
		require.Equal(t, sandboxfs.RuleOpenOutside, told[0].Rule)
		require.Equal(t, "out/db-shm", told[0].Place)
		go func() { got <- unix.FcntlFlock(a.Fd(), unix.F_OFD_SETLKW, lockOf(unix.F_WRLCK, 0, 1)) }()
		require.NoError(t, host.Close())
		require.NoError(t, <-got)
		require.NoError(t, a.Close())
	})
}

// Who has got a lock sees which names the host made, removed and replaced a moment ago:
// a database looks so whether somebody died in the middle of a change.
func TestLockShowsNamesOfTheHost(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/db=data", "out/replaced=old")
		in := f.locker(f.in("out/db"))
		there := func(path string) bool {
			_, err := os.Lstat(path)
			return err == nil
		}
		in.mustLock(unix.F_RDLCK) // the first one: what was looked up shortly before counts not
		in.mustLock(unix.F_UNLCK)
		for range 50 {
			require.False(t, there(f.in("out/db-journal"))) // the kernel remembers that
			require.NoError(t, write(f.on("out/db-journal"), "hot"))
			in.mustLock(unix.F_RDLCK)
			require.True(t, there(f.in("out/db-journal")))
			in.mustLock(unix.F_UNLCK)

			require.NoError(t, os.Remove(f.on("out/db-journal")))
			require.NoError(t, write(f.on("out/new"), "new"))
			require.NoError(t, os.Rename(f.on("out/new"), f.on("out/replaced")))
			in.mustLock(unix.F_RDLCK)
			require.False(t, there(f.in("out/db-journal")))
			outside, err := os.Stat(f.on("out/replaced"))
			require.NoError(t, err)
			inside, err := os.Stat(f.in("out/replaced"))
			require.NoError(t, err)
			require.Equal(t, outside.Sys().(*syscall.Stat_t).Ino, inside.Sys().(*syscall.Stat_t).Ino)
			in.mustLock(unix.F_UNLCK)
		}
	})
}
