//go:build linux

package sandboxfs_test

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// What is hidden in a view that is in use is gone at once: names that the kernel knows,
// what is listed, what is open, and directories that somebody stands in.
func TestHideInUse(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.Passthrough = false
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}},
			".env=secret", "src/deep/.env=secret", "src/ok=fine", "out/.env=secret", "out/keys/one=secret", "out/plain=x", "out/link=both")
		require.NoError(t, os.Link(f.in("out/link"), f.in("out/keys/link")))
		secrets := []string{".env", "src/deep/.env", "out/.env", "out/keys/one"}
		open := map[string]*os.File{}
		for _, place := range secrets {
			require.Equal(t, "secret", f.read(f.in(place)))
			file, err := os.Open(f.in(place))
			require.NoError(t, err)
			defer file.Close()
			open[place] = file
		}
		keys, err := unix.Open(f.in("out/keys"), unix.O_DIRECTORY|unix.O_RDONLY, 0)
		require.NoError(t, err)
		defer unix.Close(keys)
		require.Contains(t, names(t, f.in("out")), "keys")
		require.Contains(t, names(t, f.in("src/deep")), ".env")

		left, err := f.v.Hide("said here", "**/.env", "out/keys")
		require.NoError(t, err)
		require.Empty(t, left)
		for _, place := range secrets {
			_, err := os.ReadFile(f.in(place))
			require.ErrorIs(t, err, os.ErrNotExist, place)
			_, err = open[place].ReadAt(make([]byte, 1), 0)
			require.ErrorIs(t, err, syscall.ESTALE, "open before: "+place)
		}
		require.Equal(t, []string{"out", "src"}, names(t, f.mnt))
		require.Equal(t, []string{"link", "plain"}, names(t, f.in("out")))
		require.Empty(t, names(t, f.in("src/deep")))
		fd, err := unix.Openat(keys, "one", unix.O_RDONLY, 0)
		if err == nil {
			unix.Close(fd)
		}
		require.Error(t, err, "from a directory that was open")
		_, err = unix.Getdents(keys, make([]byte, 1024))
		require.Error(t, err, "nor is it listed")
		require.ErrorIs(t, os.Mkdir(f.in("out/keys"), 0o755), os.ErrNotExist)
		require.Equal(t, "both", f.read(f.in("out/link")), "it has another name, which is not hidden")
		require.Equal(t, "fine", f.read(f.in("src/ok")))
		require.NoError(t, write(f.in("out/plain"), "y"))
		require.Equal(t, "secret", f.read(f.on("out/keys/one")), "on the host")
		require.Equal(t, "said here", resolved.Explain(f.v.Resolver(), access.OpRead, "out/keys/one").Origin)
	})
}

// A file with a name that is not hidden stays what it is there, and is gone under the
// names that are hidden.
func TestHideOneOfTwoNames(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=1", "out/x=1")
		require.NoError(t, os.Link(f.in("out/a"), f.in("out/b")))
		require.NoError(t, os.Link(f.in("out/x"), f.in("out/y")))
		for _, name := range []string{"a", "b", "x", "y"} {
			require.Equal(t, "1", f.read(f.in("out/"+name)))
		}
		_, err := f.v.Hide("", "out/a", "out/y") // the first name, and the second
		require.NoError(t, err)
		require.False(t, exists(f.in("out/a")))
		require.False(t, exists(f.in("out/y")))
		for _, name := range []string{"b", "x"} {
			require.Equal(t, "1", f.read(f.in("out/"+name)))
			require.NoError(t, write(f.in("out/"+name), "2"))
			require.Equal(t, "2", f.read(f.on("out/"+name)))
		}
	})
}

// What has to be asked for is a mount of its own, and hidden like anything else.
func TestHideWhatIsAsked(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, AskWrite: []string{"src", "lib/asked"}},
			"out/x=1", "src/one=1", "src/keys/two=2", "lib/asked/one=1", "lib/two=2")
		dir, err := unix.Open(f.in("src"), unix.O_DIRECTORY|unix.O_RDONLY, 0)
		require.NoError(t, err)
		defer unix.Close(dir)
		require.Equal(t, []string{"keys", "one"}, names(t, f.in("src")), "the control")
		_, err = f.v.Hide("", "src", "lib")
		require.NoError(t, err)
		require.Equal(t, []string{"out"}, names(t, f.mnt))
		for _, place := range []string{"src", "src/one", "src/keys", "lib", "lib/asked", "lib/asked/one"} {
			require.False(t, exists(f.in(place)), place)
		}
		_, err = unix.Getdents(dir, make([]byte, 1024))
		require.Error(t, err, "from a directory that was open")
		require.Error(t, unix.Fstatat(dir, "keys", new(unix.Stat_t), 0))
		require.NoError(t, write(f.in("out/x"), "2"))
	})
}

// A file that the kernel reads by itself is named, not passed over in silence.
func TestHideNamesWhatStaysOpen(t *testing.T) {
	if !isRoot() {
		return // passthrough is root's
	}
	f := mount(t, sandboxfs.Options{Passthrough: true, DefaultPermissions: true}, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=1", "out/b=2", "out/c=3")
	open, err := os.Open(f.in("out/a"))
	require.NoError(t, err)
	left, err := f.v.Hide("", "out/a", "out/b")
	require.NoError(t, err)
	require.Equal(t, []string{"out/a"}, left)
	require.NoError(t, open.Close())
	eventually(t, bound, func() bool { left, err = f.v.Hide("", "out/c"); return err == nil && len(left) == 0 }, "closed, it is gone")
}

// What was mapped is taken away; what was written to the map before is not lost.
func TestHideWhatIsMapped(t *testing.T) {
	for _, o := range []sandboxfs.Options{{}, {SingleConnection: true}} {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/map="+string(bytes.Repeat([]byte("x"), 4096)))
		child := inChild("hold-map", f.in("out/map"))
		in, err := child.StdinPipe()
		require.NoError(t, err)
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		_, err = out.Read(make([]byte, 1)) // it has written
		require.NoError(t, err)
		_, err = f.v.Hide("", "out/map")
		require.NoError(t, err)
		_, err = in.Write([]byte("\n"))
		require.NoError(t, err)
		var exit interface{ ExitCode() int }
		err = child.Wait()
		require.Error(t, err, "it looked at the map again")
		require.True(t, errors.As(err, &exit))
		require.Equal(t, "mapped", f.read(f.on("out/map"))[:6])
	}
}

// Globs that would hide a write path, or cannot be read, change nothing.
func TestHideRefused(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"a/out"}}, "a/out/x=1", "b=2")
		for _, globs := range [][]string{{"a"}, {"a/out"}, {"**"}, {"b", "["}, {"b", "/abs"}} {
			_, err := f.v.Hide("", globs...)
			var bad *pathresolver.ConfigError
			require.ErrorAs(t, err, &bad, globs)
			require.Equal(t, "2", f.read(f.in("b")), "nothing is hidden")
			require.NoError(t, write(f.in("a/out/x"), "1"))
		}
	})
}

// A write path is added while programs work.
func TestAllowInUse(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, Hide: []string{"src/hidden"}},
			"out/x=1", "src/main=1", "src/deep/y=1", "src/hidden/z=1", "docs/file=1", "docs/other=1", "link => src")
		require.Error(t, write(f.in("src/main"), "2"), "the control")
		require.Error(t, write(f.in("docs/file"), "2"))
		mountAt := func(i int) error { return f.v.MountAdded(i, f.mnt) }
		require.NoError(t, f.v.Allow("said here", mountAt, "src", "docs/file"))
		require.NoError(t, write(f.in("src/main"), "2"))
		require.NoError(t, write(f.in("src/deep/new"), "2"))
		require.NoError(t, write(f.in("docs/file"), "2"))
		require.Error(t, write(f.in("docs/other"), "2"))
		require.Equal(t, "2", f.read(f.on("src/main")))
		require.False(t, exists(f.in("src/hidden")))
		require.NoError(t, os.Rename(f.in("src/deep/new"), f.in("src/new")))
		require.NoError(t, f.v.Allow("", mountAt, "src/deep"), "it may be written already")

		for _, bad := range []string{"../x", "link", "missing", "src/hidden", ".git/hooks", "."} {
			if bad == "." && o.SingleConnection || bad == "missing" && o.SingleConnection {
				continue // it is one mount, which can be written
			}
			require.Error(t, f.v.Allow("", mountAt, bad), bad)
		}
		require.Error(t, write(f.in("docs/other"), "3"), "nothing was opened")
		_, err := f.v.Hide("", "src/deep")
		require.NoError(t, err)
		require.False(t, exists(f.in("src/deep")))
		// The host moves it away and puts another one there.
		require.NoError(t, os.Rename(f.on("src"), f.on("src2")))
		plant(t, f.root, "src/main=3")
		eventually(t, bound, func() bool { return write(f.in("src/main"), "4") == nil }, "a write path is a place")
		require.Equal(t, "4", f.read(f.on("src/main")))
		require.Error(t, write(f.in("src2/main"), "5"))
	})
}

// What is mounted before mounting fails stays, can be read only, and is hidden later.
func TestAllowFailsWhenServed(t *testing.T) {
	if !isRoot() {
		return // nobody else mounts twice
	}
	f := mount(t, sandboxfs.Options{}, pathresolver.Config{WritePaths: []string{"out"}}, "out/x=1", "src/main=1")
	broken := errors.New("broken")
	require.ErrorIs(t, f.v.Allow("", func(i int) error { return errors.Join(f.v.MountAdded(i, f.mnt), broken) }, "src"), broken)
	require.Error(t, write(f.in("src/main"), "2"))
	require.Equal(t, "1", f.read(f.in("src/main")))
	require.Len(t, f.v.Mounts(), 3, "it is served")
	_, err := f.v.Hide("", "src/main")
	require.NoError(t, err)
	require.False(t, exists(f.in("src/main")), "names that the kernel remembers there, too")
	require.NoError(t, f.v.Allow("", nil, "src"), "it is mounted already")
	require.NoError(t, write(f.in("src/new"), "2"))
}

// Where it cannot be told what git would run, what is only read is opened nevertheless, and
// cannot be widened.
func TestAllowWhereGitIsUnclear(t *testing.T) {
	for config, clear := range map[string]bool{"[core": false, "[core]": true} {
		f := mount(t, sandboxfs.Options{}, pathresolver.Config{Widens: true}, ".git/HEAD=ref: refs/heads/main", ".git/objects/", ".git/refs/", ".git/config="+config, "src/main=1")
		require.Equal(t, "1", f.read(f.in("src/main")))
		err := f.v.Allow("", func(i int) error { return f.v.MountAdded(i, f.mnt) }, "src")
		if clear {
			require.NoError(t, err, "the control")
			continue
		}
		require.ErrorContains(t, err, "what git on the host would run here cannot be told")
		require.Error(t, write(f.in("src/main"), "2"))
	}
}

// A view that is not mounted cannot be widened, and says so.
func TestAllowUnmounted(t *testing.T) {
	root := t.TempDir()
	plant(t, root, "out/x=1", "src/main=1")
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	defer r.Close()
	v, err := sandboxfs.New(r, sandboxfs.Options{})
	require.NoError(t, err)
	defer v.Close()
	require.ErrorContains(t, v.Allow("", func(int) error { return nil }, "src"), "not mounted")
	require.NoError(t, v.Allow("", nil, "out"), "the control: it may be written already")
}

// When mounting fails nothing is open that was not before.
func TestAllowFails(t *testing.T) {
	f := mount(t, sandboxfs.Options{}, pathresolver.Config{WritePaths: []string{"out"}}, "out/x=1", "src/main=1")
	broken := errors.New("broken")
	require.ErrorIs(t, f.v.Allow("", func(int) error { return broken }, "src"), broken)
	require.Error(t, write(f.in("src/main"), "2"))
	require.Equal(t, []string{"out"}, f.v.Resolver().WritePaths())
	require.Len(t, f.v.Mounts(), 2)
	require.NoError(t, f.v.Allow("", func(i int) error { return f.v.MountAdded(i, f.mnt) }, "src"))
	require.NoError(t, write(f.in("src/main"), "2"))
}
