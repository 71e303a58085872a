//go:build linux

package sandboxfs_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

const noLimit = time.Duration(-1)

// askingFor are the rules of these tests: one mount for each place, so that
// some lie in a write path and some do not.
func askingFor() pathresolver.Config {
	return pathresolver.Config{WritePaths: []string{"out"}, AskWrite: []string{"src", "out/gen"}, AskRead: []string{"vault", "out/key"}, Protect: []string{"src/fixed"}}
}

// withAsker mounts a view of askingFor whose asker is returned.
func withAsker(t *testing.T, o sandboxfs.Options, specs ...string) (*fixture, *fakeAsker) {
	d := newFakeAsker()
	o.Ask = d
	return mount(t, o, askingFor(), append(specs, "src/", "out/gen/", "vault/")...), d
}

// background does something that may wait.
func background(do func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	return done
}

// ends returns what was done in the background.
func ends(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * bound):
		require.FailNow(t, "still waits")
		return nil
	}
}

// The open of a file that is there waits until it is approved, and goes
// on where it stood. A denial is EACCES, and nothing was touched.
func TestOpenWaits(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		refused := make(chan sandboxfs.Refusal, 16)
		o.OnRefusal, o.AskWait = func(r sandboxfs.Refusal) { refused <- r }, noLimit
		f, d := withAsker(t, o, "src/x=old", "out/gen/x=old", "vault/x=SECRET")
		for _, place := range []string{"src/x", "out/gen/x"} {
			request := "open write " + place
			written := background(func() error { return write(f.in(place), "new") })
			d.pending(t, request, 1)
			opensWait(t, f, 1)
			require.Equal(t, "old", f.read(f.on(place)))
			d.answer(t, request, nil)
			require.NoError(t, ends(t, written))
			require.Equal(t, "new", f.read(f.on(place)))
			opensWait(t, f, 0)

			// What was granted for one time is used up.
			written = background(func() error { return write(f.in(place), "evil") })
			d.pending(t, request, 1)
			d.answer(t, request, errors.New("Denied by manager"))
			require.ErrorIs(t, ends(t, written), syscall.EACCES)
			require.Equal(t, "new", f.read(f.on(place)))
			r := <-refused
			require.Equal(t, "Denied by manager", r.Answer)
			require.Equal(t, []any{"open", place, access.OpWrite, pathresolver.RuleAsk, syscall.EACCES}, []any{r.Syscall, r.Place, r.Op, r.Rule, r.Errno})
		}
		read := background(func() error {
			data, err := os.ReadFile(f.in("vault/x"))
			if err == nil && string(data) != "SECRET" {
				err = errors.New("read " + string(data))
			}
			return err
		})
		d.pending(t, "open read vault/x", 1)
		d.answer(t, "open read vault/x", nil)
		require.NoError(t, ends(t, read))

		// What is never writable is not asked for, and where nothing is asked for
		// nobody is.
		before := d.asked()
		require.ErrorIs(t, write(f.in("src/fixed"), ""), syscall.EROFS)
		require.NoError(t, write(f.in("out/plain"), "x"))
		require.Equal(t, "new", f.read(f.in("src/x")))
		require.Equal(t, before, d.asked())
		require.Zero(t, d.left())
	})
}

// A single file that has to be asked for is a mount of its own, where there can
// be several.
func TestFileIsAskedFor(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		d := newFakeAsker()
		o.Ask, o.AskWait = d, noLimit
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, AskWrite: []string{"go.mod"}}, "go.mod=old", "main.go=x", "out/")
		written := background(func() error { return write(f.in("go.mod"), "new") })
		d.pending(t, "open write go.mod", 1)
		require.ErrorIs(t, write(f.in("main.go"), "evil"), syscall.EROFS)
		require.NoError(t, write(f.in("out/new"), "x"))
		d.answer(t, "open write go.mod", nil)
		require.NoError(t, ends(t, written))
		require.Equal(t, "new", f.read(f.on("go.mod")))
	})
}

// Without a wait an open is refused at once as everything else is, and
// recorded; without anybody to ask nothing is.
func TestOpenThatMayNotWait(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f, d := withAsker(t, o, "src/x=old")
		require.ErrorIs(t, write(f.in("src/x"), "new"), syscall.EACCES)
		d.pending(t, "open write src/x", 1)
		d.answer(t, "open write src/x", nil)
		require.NoError(t, write(f.in("src/x"), "new"))
		require.Equal(t, "new", f.read(f.on("src/x")))
		require.ErrorIs(t, write(f.in("src/x"), "evil"), syscall.EACCES)
		d.pending(t, "open write src/x", 1)

		o.AskWait = time.Millisecond // an end of the wait is no denial
		f, d = withAsker(t, o, "src/x=old")
		require.ErrorIs(t, write(f.in("src/x"), "new"), syscall.EACCES)
		d.pending(t, "open write src/x", 1)

		o.AskWait = noLimit
		alone := mount(t, o, askingFor(), "src/x=old")
		require.ErrorIs(t, write(alone.in("src/x"), "new"), syscall.EACCES)
		free := mount(t, o, pathresolver.Config{WritePaths: []string{"src"}}, "src/x=old")
		require.NoError(t, write(free.in("src/x"), "new"))
	})
}

// What is approved is the place: what stands there when the answer comes is
// opened, and nothing that has moved or become a link meanwhile.
func TestApprovalIsOfThePlace(t *testing.T) {
	f, d := withAsker(t, sandboxfs.Options{AskWait: noLimit}, "src/x=old", "src/y=old", "src/victim=mine", "out/mine=mine")
	waiting := func(place string) <-chan error {
		t.Helper()
		written := background(func() error { return write(f.in(place), "new") })
		d.pending(t, "open write "+place, 1)
		return written
	}
	x, y := waiting("src/x"), waiting("src/y")
	require.NoError(t, os.Rename(f.on("src/x"), f.on("src/moved")))
	require.NoError(t, os.Symlink("victim", f.on("src/x")))
	require.NoError(t, os.Remove(f.on("src/y")))
	d.answer(t, "open write src/x", nil)
	d.answer(t, "open write src/y", nil)

	// The kernel looks the name up again: the link leads to what was not approved.
	d.pending(t, "open write src/victim", 1)
	d.answer(t, "open write src/victim", errors.New("no"))
	require.ErrorIs(t, ends(t, x), syscall.EACCES)
	require.Equal(t, "old", f.read(f.on("src/moved")))
	require.Equal(t, "mine", f.read(f.on("src/victim")))

	// Of what is not there any more nothing is made without a grant.
	require.Error(t, ends(t, y))
	require.NoFileExists(t, f.on("src/y"))

	z := waiting("src/victim")
	d.answer(t, "open write src/victim", nil)
	require.NoError(t, ends(t, z), "unchanged it is opened")
}

// The open after the wait has the rights that it would have had without: none of
// the server's beyond those of who asked.
func TestApprovalGivesNoRights(t *testing.T) {
	f, d := withAsker(t, sandboxfs.Options{Passthrough: true, Unprivileged: true, AskWait: noLimit}, "src/x=old")
	written := func(mode os.FileMode) error {
		done := background(func() error { return write(f.in("src/x"), "new") })
		d.pending(t, "open write src/x", 1)
		require.NoError(t, os.Chmod(f.on("src/x"), mode))
		d.answer(t, "open write src/x", nil)
		return ends(t, done)
	}
	require.NoError(t, written(0o644))
	require.ErrorIs(t, written(0), syscall.EACCES)
}

// Where a grant would not help nobody is asked, and none is used up.
func TestFutileOpensAreNotAskedFor(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := withAsker(t, o, "src/x=old", "src/read=only")
		require.NoError(t, os.Link(f.on("src/x"), f.on("src/also")))
		require.ErrorIs(t, write(f.in("src/x"), "new"), syscall.EACCES)
		if o.Unprivileged { // the others are root, who may write it
			require.NoError(t, os.Chmod(f.on("src/read"), 0o444))
			require.ErrorIs(t, write(f.in("src/read"), "new"), syscall.EACCES)
		}
		require.Zero(t, d.asked())
		require.Zero(t, d.left())

		require.NoError(t, os.Remove(f.on("src/also")))
		written := background(func() error { return write(f.in("src/x"), "new") })
		d.pending(t, "open write src/x", 1)
		d.answer(t, "open write src/x", nil)
		require.NoError(t, ends(t, written), "with one name it is asked for")
	})
}

// A view that is closed keeps nobody waiting, and records what was refused.
func TestCloseWhileWaiting(t *testing.T) {
	f, d := withAsker(t, sandboxfs.Options{AskWait: noLimit}, "src/x=old")
	written := background(func() error { return write(f.in("src/x"), "new") })
	d.pending(t, "open write src/x", 1)
	require.ErrorIs(t, os.Mkdir(f.in("src/late"), 0o755), syscall.EACCES)
	require.NoError(t, f.v.Close())
	require.Error(t, ends(t, written))
	require.Equal(t, "old", f.read(f.on("src/x")))
	d.pending(t, "mkdir create src/late", 1)
	d.pending(t, "open write src/x", 1)
}

// What ends a process ends its wait at once; what was asked for stays asked for.
// Not by SIGINT here: who starts tests in the background ignores that.
func TestInterruptEndsTheWait(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := withAsker(t, o, "src/x=old")
		for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			waiter := inChild("truncate", f.in("src/x"))
			require.NoError(t, waiter.Start())
			d.pending(t, "open write src/x", 1)
			eventually(t, bound, func() bool { return f.v.Stats().Waiting == 1 && waitsForServer(waiter.Process.Pid) }, "waiting for the answer")
			require.NoError(t, waiter.Process.Signal(sig))
			require.Error(t, ends(t, background(waiter.Wait)))
			eventually(t, bound, func() bool { return f.v.Stats().Waiting == 0 }, "nobody waits")
			d.pending(t, "open write src/x", 1)
			require.Equal(t, "old", f.read(f.on("src/x")))
		}
		waiter := inChild("truncate", f.in("src/x"))
		require.NoError(t, waiter.Start())
		eventually(t, bound, func() bool { return f.v.Stats().Waiting == 1 }, "it waits again")
		d.answer(t, "open write src/x", nil)
		require.NoError(t, ends(t, background(waiter.Wait)), "left alone it is opened")
		require.Empty(t, f.read(f.on("src/x")))
	})
}

// A grant to write and to remove is none to read, also once the file has no name
// any more that the rules could be asked about.
func TestLeaveToWriteIsNoneToRead(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := withAsker(t, o, "out/key=SECRET")
		d.remember()
		d.grant(access.Access{Action: access.FSWrite, Resource: "out/key"}, access.Access{Action: access.FSDelete, Resource: "out/key"})
		written, err := os.OpenFile(f.in("out/key"), os.O_WRONLY, 0)
		require.NoError(t, err)
		defer func() { require.NoError(t, written.Close()) }()
		require.NoError(t, os.Remove(f.in("out/key")))
		again := fmt.Sprintf("/proc/self/fd/%d", written.Fd())
		for _, flags := range []int{os.O_RDONLY, os.O_RDWR} {
			got, err := os.OpenFile(again, flags, 0)
			if err == nil {
				require.NoError(t, got.Close())
			}
			require.ErrorIs(t, err, syscall.ESTALE, "flags %x", flags)
		}
		got, err := os.OpenFile(again, os.O_WRONLY, 0) // what it has, it has still
		require.NoError(t, err)
		require.NoError(t, got.Close())
	})
}
