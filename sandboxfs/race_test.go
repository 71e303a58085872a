//go:build linux

package sandboxfs_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// raceTries is how often each race is run in an ordinary test.
const raceTries = 3000

// attack swaps two names on the host until it is stopped.
type attack struct {
	swaps atomic.Int64
	quit  chan struct{}
	done  chan struct{}
}

func exchanging(a, b string, pause time.Duration) *attack {
	at := &attack{quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(at.done)
		for {
			if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
				at.swaps.Add(1)
			}
			select {
			case <-at.quit:
				return
			default:
				time.Sleep(pause)
			}
		}
	}()
	return at
}

func (at *attack) stop() { close(at.quit); <-at.done }

// leastSwaps is how often the names must have been swapped for a race to count.
const leastSwaps = 50

// tries counts to raceTries, and beyond while there were few swaps or nothing
// was reached yet: the kernel believes for a second what it saw first.
func (at *attack) tries(reached *int) func() bool {
	count, deadline := 0, time.Now().Add(30*time.Second)
	return func() bool {
		count++
		if count <= raceTries {
			return true
		}
		return (*reached == 0 || at.swaps.Load() < leastSwaps) && time.Now().Before(deadline)
	}
}

// openPlain opens a path and follows no link itself: whatever is reached then
// through a link was reached by the server. (A plain mount confines nothing by
// itself: its kernel follows links before the server is asked.)
func openPlain(dir, path string, flags int) (int, error) {
	root, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return fsat.Openat2(root, path, flags, 0o644, fsat.ResolveNoSymlinks)
}

// While the host swaps a directory and a link, the view never reads or writes
// what the link leads to.
func TestRaces(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		cfg := pathresolver.Config{WritePaths: []string{"out"}, Protect: []string{"out/keep"}}
		f := mount(t, o, cfg, "src/d/x=inside", "src/x=source", "out/d/x=inside", "out/keep/x=kept", "out/e/x=other", "out/l => ../src")
		outside := t.TempDir()
		plant(t, outside, "x=SECRET", "empty/")
		require.NoError(t, os.Symlink(outside, f.on("src/l")))

		t.Run("read", func(t *testing.T) {
			// Not as fast as can be: the view is to see the directory at times.
			host := exchanging(f.on("src/d"), f.on("src/l"), 50*time.Microsecond)
			reached := 0
			for goOn := host.tries(&reached); goOn(); {
				if data, err := readPlain(f.mnt, "src/d/x"); err == nil {
					require.NotContains(t, data, "SECRET")
					reached++
				}
			}
			host.stop()
			require.GreaterOrEqual(t, host.swaps.Load(), int64(leastSwaps))
			require.Positive(t, reached, "the race must let some reads through")
		})
		t.Run("write", func(t *testing.T) {
			host := exchanging(f.on("out/d"), f.on("out/l"), 0)
			reached := 0
			for goOn := host.tries(&reached); goOn(); {
				fd, err := openPlain(f.mnt, "out/d/x", unix.O_WRONLY|unix.O_TRUNC)
				if err == nil {
					_, _ = unix.Write(fd, []byte("written"))
					unix.Close(fd)
					reached++
				}
				if fd, err = openPlain(f.mnt, "out/d/new", unix.O_WRONLY|unix.O_CREAT); err == nil {
					unix.Close(fd)
				}
				_ = unix.Unlink(f.in("out/d/new"))
				_ = unix.Mkdir(f.in("out/d/newdir"), 0o755)
				_ = unix.Rmdir(f.in("out/d/newdir"))
			}
			host.stop()
			require.GreaterOrEqual(t, host.swaps.Load(), int64(leastSwaps))
			require.Positive(t, reached)
			require.Equal(t, "source", f.read(f.on("src/x")))
			require.NoFileExists(t, f.on("src/new"))
			require.NoDirExists(t, f.on("src/newdir"))
		})
		t.Run("protected", func(t *testing.T) {
			host := exchanging(f.on("out/e"), f.on("out/keep"), 0)
			for range raceTries / 3 {
				if fd, err := openPlain(f.mnt, "out/keep/x", unix.O_WRONLY); err == nil {
					unix.Close(fd)
					require.Fail(t, "opened for writing at a protected place")
				}
			}
			host.stop()
		})
		t.Run("unguarded", func(t *testing.T) {
			host := exchanging(f.on("src/d"), f.on("src/l"), 0)
			defer host.stop()
			escaped := false
			for i := 0; i < 100*raceTries && !escaped; i++ {
				data, err := os.ReadFile(f.on("src/d/x"))
				escaped = err == nil && string(data) == "SECRET"
			}
			require.True(t, escaped, "without the guard the same race escapes")
		})
	})
}

func readPlain(dir, path string) (string, error) {
	fd, err := openPlain(dir, path, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	file := os.NewFile(uintptr(fd), filepath.Base(path))
	defer file.Close()
	buf := make([]byte, 100)
	n, err := file.Read(buf)
	return string(buf[:n]), err
}
