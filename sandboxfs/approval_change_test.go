//go:build linux

package sandboxfs_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// Everything but an open is EACCES at once and leaves a request, and is done
// when it is tried again after that was approved: with exactly that, once.
func TestRefusedAtOnceAndRetried(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := withAsker(t, o)
		var changes []change
		for _, c := range changesOfFile[3:] { // the others open
			changes = append(changes, change{c.name, func(dir string) error { return c.do(dir + "/file") }})
		}
		for _, c := range append(changes, changesOfDir...) {
			do := untilDone(c.do)
			for _, place := range []string{"src", "out/gen"} {
				t.Run(place+"/"+c.name, func(t *testing.T) {
					at := fmt.Sprintf("%s/d%d", place, d.asked())
					plantChangeable(t, f.on(at))
					require.ErrorIs(t, do(f.in(at)), syscall.EACCES)
					request := d.pending(t, "", 1)[0]
					require.ErrorIs(t, do(f.in(at)), syscall.EACCES, "not before it is approved")
					d.answer(t, request, errors.New("no"))
					require.ErrorIs(t, do(f.in(at)), syscall.EACCES, "nor when it is denied")
					require.ErrorIs(t, do(f.in(at)), syscall.EACCES)
					require.Equal(t, "secret", f.read(f.on(at+"/file")))
					d.answer(t, d.pending(t, "", 1)[0], nil)
					require.NoError(t, do(f.in(at)), request)
					require.Zero(t, d.left(), "it is used up")
				})
			}
		}
	})
}

// untilDone does it again where a signal ended it, such as those by which Go's
// scheduler takes a processor away: what waits for an answer can be interrupted.
func untilDone(do func(string) error) func(string) error {
	return func(path string) error {
		for {
			if err := do(path); !errors.Is(err, syscall.EINTR) {
				return err
			}
		}
	}
}

// What has to be granted for a change, and that no other grant is enough.
func TestWhatIsAskedFor(t *testing.T) {
	f, d := withAsker(t, sandboxfs.Options{}, "src/a=a", "src/b=b", "src/dir/x=x", "out/x=x", "out/key=SECRET", "vault/x=x")
	refused := func(want string, err error) {
		t.Helper()
		require.ErrorIs(t, err, syscall.EACCES)
		d.pending(t, want, 1)
		d.mu.Lock()
		defer d.mu.Unlock()
		require.Contains(t, d.rows, want)
		clear(d.rows)
	}
	refused("rename rename src/a rename src/c", os.Rename(f.in("src/a"), f.in("src/c")))
	refused("rename rename src/dir rename src/e", os.Rename(f.in("src/dir"), f.in("src/e")))
	refused("link rename src/a write src/a create src/l", os.Link(f.in("src/a"), f.in("src/l")))
	refused("rename rename out/x rename out/gen/x", os.Rename(f.in("out/x"), f.in("out/gen/x")))
	refused("rename rename out/key rename out/open read out/key", os.Rename(f.in("out/key"), f.in("out/open")))
	refused("link rename out/key write out/key create out/open read out/key", os.Link(f.in("out/key"), f.in("out/open")))
	refused("open write out/key read out/key", closing(os.OpenFile(f.in("out/key"), os.O_RDWR, 0)))
	refused("open write out/key", closing(os.OpenFile(f.in("out/key"), os.O_WRONLY, 0)))
	refused("mkdir create src/n", os.Mkdir(f.in("src/n"), 0o755))
	refused("setattr meta src/a", os.Chmod(f.in("src/a"), 0o600))
	_, err := os.ReadDir(f.in("vault"))
	refused("readdir read vault", err)

	// Leave to write is none to rename, and that for one file none for another.
	d.remember()
	d.grant(access.Access{Action: access.FSWrite, Resource: "src/a"})
	require.NoError(t, write(f.in("src/a"), "new"))
	require.ErrorIs(t, write(f.in("src/b"), "evil"), syscall.EACCES)
	require.ErrorIs(t, os.Rename(f.in("src/a"), f.in("src/c")), syscall.EACCES)
	require.ErrorIs(t, os.Link(f.in("src/a"), f.in("out/alias")), syscall.EXDEV)
}

// A grant that lasts needs no first try where the asker knows of it, tells
// access(2), and once withdrawn counts for no further open.
func TestLeaveThatLasts(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := withAsker(t, o, "src/x=old", "src/y=old")
		d.remember()
		lasting := []access.Access{
			{Action: access.FSWrite, Resource: "src/x"}, {Action: access.FSCreate, Resource: "src/new"},
			{Action: access.FSDelete, Resource: "src/new"}, {Action: access.FSDelete, Resource: "src/y"},
		}
		may := func(place string) error { return unix.Access(f.in(place), unix.W_OK) }
		if !o.DefaultPermissions {
			require.ErrorIs(t, may("src/x"), syscall.EACCES)
		}
		d.grant(lasting...)
		require.NoError(t, may("src/x"))
		for range 2 {
			require.NoError(t, write(f.in("src/x"), "new"))
			require.NoError(t, os.Mkdir(f.in("src/new"), 0o755))
			require.NoError(t, os.Remove(f.in("src/new")))
		}
		open, err := os.OpenFile(f.in("src/x"), os.O_WRONLY, 0)
		require.NoError(t, err)
		defer open.Close()

		d.revoke(lasting...)
		require.ErrorIs(t, os.Mkdir(f.in("src/new"), 0o755), syscall.EACCES)
		require.ErrorIs(t, os.Remove(f.in("src/y")), syscall.EACCES)
		written := background(func() error { return write(f.in("src/x"), "evil") })
		d.pending(t, "open write src/x", 1)
		d.answer(t, "open write src/x", errors.New("no"))
		require.ErrorIs(t, ends(t, written), syscall.EACCES)
		require.Equal(t, "new", f.read(f.on("src/x")))
	})
}

// What was allowed to the first part of a listing lasts until its end, and
// the kernel keeps it for nobody else.
func TestListingIsAskedFor(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		var many []string
		for i := range 500 {
			many = append(many, fmt.Sprintf("vault/a name that fills the buffer %d=x", i))
		}
		f, d := withAsker(t, o, many...)
		list := func() error {
			all, err := os.ReadDir(f.in("vault"))
			if err == nil && len(all) != len(many) {
				err = fmt.Errorf("%d names", len(all))
			}
			return err
		}
		for range 2 {
			require.ErrorIs(t, list(), syscall.EACCES)
			d.pending(t, "readdir read vault", 1)
			d.answer(t, "readdir read vault", nil)
			require.NoError(t, list())
		}
		require.ErrorIs(t, list(), syscall.EACCES)
	})
}
