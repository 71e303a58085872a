//go:build linux

package sandboxfs_test

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// What is changed through a view is told, with the names that it has then, and
// what is refused or only read is not.
func TestOnChange(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		var mu sync.Mutex
		var told []string
		o.OnChange = func(c sandboxfs.Change) {
			mu.Lock()
			defer mu.Unlock()
			line := string(c.Op) + " " + c.Mode.String() + " " + c.Place
			if c.To != "" {
				line += " > " + c.To
			}
			if c.Exchange {
				line += " exchanged"
			}
			told = append(told, line)
		}
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/old=x", "out/dir/", "in=x")
		expect := func(want ...string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			require.Equal(t, want, told)
			told = nil
		}
		require.NoError(t, write(f.in("out/new"), "x"))
		expect("create -rw-r--r-- out/new")
		require.NoError(t, os.Chmod(f.in("out/new"), 0o755))
		expect("meta -rwxr-xr-x out/new")
		require.NoError(t, write(f.in("out/old"), "y"))
		expect("write -rw-r--r-- out/old")
		require.NoError(t, os.Truncate(f.in("out/old"), 0))
		expect("write -rw-r--r-- out/old")
		require.NoError(t, os.Symlink("/etc", f.in("out/link")))
		require.NoError(t, syscall.Mkfifo(f.in("out/fifo"), 0o600))
		require.NoError(t, os.Mkdir(f.in("out/made"), 0o700))
		expect("create Lrwxrwxrwx out/link", "create prw------- out/fifo", "create drwx------ out/made")
		require.NoError(t, os.Rename(f.in("out/made"), f.in("out/dir/made")))
		require.NoError(t, os.Link(f.in("out/new"), f.in("out/dir/made/other")))
		expect("rename d--------- out/made > out/dir/made", "link -rwxr-xr-x  > out/dir/made/other")
		require.NoError(t, unix.Renameat2(unix.AT_FDCWD, f.in("out/link"), unix.AT_FDCWD, f.in("out/old"), unix.RENAME_EXCHANGE))
		expect("rename L--------- out/link > out/old exchanged")

		_ = f.read(f.in("in"))
		require.Error(t, write(f.in("in"), "y"))
		require.Error(t, os.Mkdir(f.in("new"), 0o755))
		require.Error(t, os.Rename(f.in("out/new"), f.in("new")))
		require.NoError(t, os.Remove(f.in("out/fifo")))
		expect()
	})
}

// Changes and moves of many programs are told in an order that leads to the names
// that things have in the end.
func TestOnChangeInOrder(t *testing.T) {
	var mu sync.Mutex
	at := map[string]bool{}
	o := sandboxfs.Options{OnChange: func(c sandboxfs.Change) {
		mu.Lock()
		defer mu.Unlock()
		if c.Op == access.OpRename {
			delete(at, c.Place)
			at[c.To] = true
		} else {
			at[c.Place] = true
		}
	}}
	f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 50 {
				name, moved := f.in(fmt.Sprintf("out/%d-%d", i, n)), f.in(fmt.Sprintf("out/%d-%d-moved", i, n))
				if write(name, "x") != nil || os.Rename(name, moved) != nil {
					t.Error("in a write path")
				}
			}
		})
	}
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, at, 400)
	for place := range at {
		require.True(t, exists(f.on(place)), place)
	}
}
