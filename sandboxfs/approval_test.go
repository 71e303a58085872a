//go:build linux

package sandboxfs_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

const noLimit = time.Duration(-1)

// askingFor are the rules of these tests: one part for each place, so that
// some lie in a write path and some do not.
func askingFor() pathresolver.Config {
	return pathresolver.Config{WritePaths: []string{"out"}, AskWrite: []string{"src", "out/gen"}, AskRead: []string{"vault", "out/key"}, Protect: []string{"src/fixed"}}
}

// atDesk mounts a view of askingFor whose desk is returned.
func atDesk(t *testing.T, o sandboxfs.Options, specs ...string) (*fixture, *desk) {
	d := newDesk()
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

// D40, D1: the open of a file that is there waits until it is approved, and goes
// on where it stood. A denial is EACCES, and nothing was touched.
func TestOpenWaits(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		refused := make(chan sandboxfs.Refusal, 16)
		o.OnRefusal, o.AskWait = func(r sandboxfs.Refusal) { refused <- r }, noLimit
		f, d := atDesk(t, o, "src/x=old", "out/gen/x=old", "vault/x=SECRET")
		for _, place := range []string{"src/x", "out/gen/x"} {
			request := "open write " + place
			written := background(func() error { return write(f.in(place), "new") })
			d.pending(t, request, 1)
			require.Equal(t, 1, f.v.Stats().Waiting)
			require.Equal(t, "old", f.read(f.on(place)))
			d.answer(t, request, nil)
			require.NoError(t, ends(t, written))
			require.Equal(t, "new", f.read(f.on(place)))
			require.Zero(t, f.v.Stats().Waiting)

			// What was granted for one time is used up.
			written = background(func() error { return write(f.in(place), "evil") })
			d.pending(t, request, 1)
			d.answer(t, request, errors.New("Denied by manager"))
			require.ErrorIs(t, ends(t, written), syscall.EACCES)
			require.Equal(t, "new", f.read(f.on(place)))
			r := <-refused
			require.Equal(t, "Denied by manager", r.Answer)
			require.Equal(t, []any{"open", place, pathresolver.OpWrite, pathresolver.RuleAsk, syscall.EACCES}, []any{r.Syscall, r.Place, r.Op, r.Rule, r.Errno})
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

// A single file that has to be asked for is a part of its own, where there can
// be several.
func TestFileIsAskedFor(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		d := newDesk()
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

// D40: without a wait an open is refused at once as everything else is, and
// recorded; without anybody to ask nothing is.
func TestOpenThatMayNotWait(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f, d := atDesk(t, o, "src/x=old")
		require.ErrorIs(t, write(f.in("src/x"), "new"), syscall.EACCES)
		d.pending(t, "open write src/x", 1)
		d.answer(t, "open write src/x", nil)
		require.NoError(t, write(f.in("src/x"), "new"))
		require.Equal(t, "new", f.read(f.on("src/x")))
		require.ErrorIs(t, write(f.in("src/x"), "evil"), syscall.EACCES)
		d.pending(t, "open write src/x", 1)

		o.AskWait = time.Millisecond // an end of the wait is no denial
		f, d = atDesk(t, o, "src/x=old")
		require.ErrorIs(t, write(f.in("src/x"), "new"), syscall.EACCES)
		d.pending(t, "open write src/x", 1)

		o.AskWait = noLimit
		alone := mount(t, o, askingFor(), "src/x=old")
		require.ErrorIs(t, write(alone.in("src/x"), "new"), syscall.EACCES)
		free := mount(t, o, pathresolver.Config{WritePaths: []string{"src"}}, "src/x=old")
		require.NoError(t, write(free.in("src/x"), "new"))
	})
}

// D40: everything but an open is EACCES at once and leaves a request, and is done
// when it is tried again after that was approved: with exactly that, once.
func TestRefusedAtOnceAndRetried(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := atDesk(t, o)
		var changes []change
		for _, c := range changesOfFile[3:] { // the others open
			changes = append(changes, change{c.name, func(dir string) error { return c.do(dir + "/file") }})
		}
		for _, c := range append(changes, changesOfDir...) {
			for _, place := range []string{"src", "out/gen"} {
				t.Run(place+"/"+c.name, func(t *testing.T) {
					at := fmt.Sprintf("%s/d%d", place, d.asked())
					plantChangeable(t, f.on(at))
					require.ErrorIs(t, c.do(f.in(at)), syscall.EACCES)
					request := d.pending(t, "", 1)[0]
					require.ErrorIs(t, c.do(f.in(at)), syscall.EACCES, "not before it is approved")
					d.answer(t, request, errors.New("no"))
					require.ErrorIs(t, c.do(f.in(at)), syscall.EACCES, "nor when it is denied")
					require.ErrorIs(t, c.do(f.in(at)), syscall.EACCES)
					require.Equal(t, "secret", f.read(f.on(at+"/file")))
					d.answer(t, d.pending(t, "", 1)[0], nil)
					require.NoError(t, c.do(f.in(at)), request)
					require.Zero(t, d.left(), "it is used up")
				})
			}
		}
	})
}

// What a change needs leave for, and that it gets by no other.
func TestWhatIsAskedFor(t *testing.T) {
	f, d := atDesk(t, sandboxfs.Options{}, "src/a=a", "src/b=b", "src/dir/x=x", "out/x=x", "out/key=SECRET", "vault/x=x")
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
	d.grant(pathresolver.Access{Op: pathresolver.OpWrite, Place: "src/a"})
	require.NoError(t, write(f.in("src/a"), "new"))
	require.ErrorIs(t, write(f.in("src/b"), "evil"), syscall.EACCES)
	require.ErrorIs(t, os.Rename(f.in("src/a"), f.in("src/c")), syscall.EACCES)
	require.ErrorIs(t, os.Link(f.in("src/a"), f.in("out/alias")), syscall.EXDEV)
}

// D25: leave that lasts needs no first try where the desk knows of it, tells
// access(2), and once withdrawn counts for no further open.
func TestLeaveThatLasts(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := atDesk(t, o, "src/x=old", "src/y=old")
		d.remember()
		leave := []pathresolver.Access{
			{Op: pathresolver.OpWrite, Place: "src/x"}, {Op: pathresolver.OpCreate, Place: "src/new"},
			{Op: pathresolver.OpDelete, Place: "src/new"}, {Op: pathresolver.OpDelete, Place: "src/y"},
		}
		access := func(place string) error { return unix.Access(f.in(place), unix.W_OK) }
		if !o.DefaultPermissions {
			require.ErrorIs(t, access("src/x"), syscall.EACCES)
		}
		d.grant(leave...)
		require.NoError(t, access("src/x"))
		for range 2 {
			require.NoError(t, write(f.in("src/x"), "new"))
			require.NoError(t, os.Mkdir(f.in("src/new"), 0o755))
			require.NoError(t, os.Remove(f.in("src/new")))
		}
		open, err := os.OpenFile(f.in("src/x"), os.O_WRONLY, 0)
		require.NoError(t, err)
		defer open.Close()

		d.revoke(leave...)
		require.ErrorIs(t, os.Mkdir(f.in("src/new"), 0o755), syscall.EACCES)
		require.ErrorIs(t, os.Remove(f.in("src/y")), syscall.EACCES)
		written := background(func() error { return write(f.in("src/x"), "evil") })
		d.pending(t, "open write src/x", 1)
		d.answer(t, "open write src/x", errors.New("no"))
		require.ErrorIs(t, ends(t, written), syscall.EACCES)
		require.Equal(t, "new", f.read(f.on("src/x")))
	})
}

// What is approved is the place: what stands there when the answer comes is
// opened, and nothing that has moved or become a link meanwhile.
func TestApprovalIsOfThePlace(t *testing.T) {
	f, d := atDesk(t, sandboxfs.Options{AskWait: noLimit}, "src/x=old", "src/y=old", "src/victim=mine", "out/mine=mine")
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

	// Of what is not there any more nothing is made without leave.
	require.Error(t, ends(t, y))
	require.NoFileExists(t, f.on("src/y"))

	z := waiting("src/victim")
	d.answer(t, "open write src/victim", nil)
	require.NoError(t, ends(t, z), "unchanged it is opened")
}

// D40: what was allowed to the first part of a listing lasts until its end, and
// the kernel keeps it for nobody else.
func TestListingIsAskedFor(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		var many []string
		for i := range 500 {
			many = append(many, fmt.Sprintf("vault/a name that fills the buffer %d=x", i))
		}
		f, d := atDesk(t, o, many...)
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

// The open after the wait has the rights that it would have had without: none of
// the server's beyond those of who asked.
func TestApprovalGivesNoRights(t *testing.T) {
	f, d := atDesk(t, sandboxfs.Options{Passthrough: true, Unprivileged: true, AskWait: noLimit}, "src/x=old")
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

// Where leave would not help nobody is asked, and none is used up.
func TestFutileOpensAreNotAskedFor(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := atDesk(t, o, "src/x=old", "src/read=only")
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

// D40: while a hundred opens wait, everything else in the same directories goes
// on.
func TestHundredWait(t *testing.T) {
	o := arrangements["run"]
	o.AskWait = noLimit
	d := newDesk()
	o.Ask = d
	var specs []string
	for i := range 100 {
		specs = append(specs, fmt.Sprintf("out/d%d/secret%d=old", i%4, i))
	}
	f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, AskWrite: []string{"out/*/secret*"}}, specs...)
	round := func() (took []time.Duration) {
		for i := range 100 {
			dir := f.in(fmt.Sprintf("out/d%d", i%4))
			for _, do := range []func() error{
				func() error { return write(dir+"/new", "x") },
				func() error { _, err := os.Stat(dir + "/new"); return err },
				func() error { return os.Rename(dir+"/new", f.in(fmt.Sprintf("out/d%d/other", (i+1)%4))) },
				func() error { return os.Remove(f.in(fmt.Sprintf("out/d%d/other", (i+1)%4))) },
				func() error { return os.Mkdir(dir+"/dir", 0o755) },
				func() error { return os.Remove(dir + "/dir") },
				func() error { _, err := os.ReadFile(dir + fmt.Sprintf("/secret%d", i)); return err },
				func() error { _, err := os.ReadDir(dir); return err },
			} {
				began := time.Now()
				require.NoError(t, do())
				took = append(took, time.Since(began))
			}
		}
		slices.Sort(took)
		return took
	}
	round()
	alone := round()
	var waiting sync.WaitGroup
	errs := make(chan error, 100)
	for i := range 100 {
		waiting.Go(func() { errs <- write(f.in(fmt.Sprintf("out/d%d/secret%d", i%4, i)), "new") })
	}
	names := d.pending(t, "open write ", 100)
	require.Equal(t, 100, f.v.Stats().Waiting)
	among := round()
	t.Logf("an operation takes %v alone and %v while 100 opens wait (medians); the slowest %v and %v",
		alone[len(alone)/2], among[len(among)/2], alone[len(alone)-1], among[len(among)-1])
	require.Equal(t, 100, f.v.Stats().Waiting)
	for _, name := range names {
		d.answer(t, name, nil)
	}
	waiting.Wait()
	for range 100 {
		require.NoError(t, <-errs)
	}
	require.Equal(t, "new", f.read(f.on("out/d3/secret99")))
}

// A view that is closed keeps nobody waiting, and records what was refused.
func TestCloseWhileWaiting(t *testing.T) {
	f, d := atDesk(t, sandboxfs.Options{AskWait: noLimit}, "src/x=old")
	written := background(func() error { return write(f.in("src/x"), "new") })
	d.pending(t, "open write src/x", 1)
	require.ErrorIs(t, os.Mkdir(f.in("src/late"), 0o755), syscall.EACCES)
	require.NoError(t, f.v.Close())
	require.Error(t, ends(t, written))
	require.Equal(t, "old", f.read(f.on("src/x")))
	d.pending(t, "mkdir create src/late", 1)
	d.pending(t, "open write src/x", 1)
}

// Ctrl-C and kill end the wait at once; what was asked for stays asked for (D40).
func TestInterruptEndsTheWait(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := atDesk(t, o, "src/x=old")
		for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGKILL} {
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
