//go:build linux

package sandboxfs_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// Every change of what may be asked for is EACCES, where it is never writable
// EROFS, and the same succeeds where nothing has to be asked for.
func TestAskWriteIsEACCES(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, AskWrite: []string{"ask", "out/**/gen"}},
			"src/", "ask/", "out/a/gen/", "out/work/")
		for place, want := range map[string]error{"src": syscall.EROFS, "ask": syscall.EACCES, "out/a/gen": syscall.EACCES, "out/work": nil} {
			try := func(dir string, c change, suffix string) {
				t.Run(place+"/"+c.name, func(t *testing.T) {
					at := place + "/" + dir
					plantChangeable(t, f.on(at))
					err := c.do(f.in(at) + suffix)
					if want == nil {
						require.NoError(t, err)
						return
					}
					require.ErrorIs(t, err, want)
					require.Equal(t, "secret", f.read(f.on(at+"/file")))
					require.Equal(t, "secret", f.read(f.in(at+"/file")), "reading is allowed")
				})
			}
			for i, c := range changesOfFile {
				try(fmt.Sprintf("f%d", i), c, "/file")
			}
			for i, c := range changesOfDir {
				try(fmt.Sprintf("d%d", i), c, "")
			}
			if !o.DefaultPermissions { // the kernel answers from the mode then
				plant(t, f.root, place+"/plain=x")
				err := unix.Access(f.in(place+"/plain"), unix.W_OK)
				if want == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, want)
				}
				require.NoError(t, unix.Access(f.in(place+"/plain"), unix.R_OK))
			}
		}
	})
}

// Of what may be read only after asking the name and the attributes are seen;
// its content is EACCES at open(2), by no other name and after no move.
func TestAskReadIsEACCES(t *testing.T) {
	for _, ask := range []string{"vault", "**/vault"} { // a mount of its own, and one for all
		eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
			f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, AskRead: []string{ask, "out/key"}},
				"vault/a=SECRET", "vault/sub/b=SECRET", "out/key=SECRET", "out/x=x", "src/l => ../vault/a", "src/f=f")
			for _, place := range []string{"vault/a", "vault/sub/b", "out/key", "src/l"} {
				info, err := os.Stat(f.in(place))
				require.NoError(t, err, place)
				require.EqualValues(t, len("SECRET"), info.Size())
				_, err = os.Open(f.in(place))
				require.ErrorIs(t, err, syscall.EACCES, place)
				fd, err := unix.Open(f.in(place), unix.O_PATH, 0)
				require.NoError(t, err)
				_, err = os.ReadFile("/proc/self/fd/" + itoa(fd))
				require.ErrorIs(t, err, syscall.EACCES, place)
				require.NoError(t, unix.Close(fd))
				require.NoError(t, unix.Setxattr(f.on(place), "user.note", []byte("SECRET"), 0))
				_, err = unix.Getxattr(f.in(place), "user.note", make([]byte, 64))
				require.ErrorIs(t, err, syscall.EACCES, place)
				if place != "src/l" {
					require.Contains(t, acrossMounts, unix.Link(f.in(place), f.in("out/stolen")), place)
					require.Contains(t, acrossMounts, unix.Rename(f.in(place), f.in("out/stolen")), place)
				}
				if !o.DefaultPermissions {
					require.ErrorIs(t, unix.Access(f.in(place), unix.R_OK), syscall.EACCES)
				}
			}
			require.ErrorIs(t, write(f.in("out/key"), "x"), syscall.EACCES)
			require.Contains(t, names(t, f.mnt), "vault")
			for _, dir := range []string{"vault", "vault/sub"} {
				_, err := os.ReadDir(f.in(dir))
				require.ErrorIs(t, err, syscall.EACCES, dir)
			}
			for _, place := range []string{"src/f", "out/x"} {
				require.NoError(t, unix.Setxattr(f.on(place), "user.note", []byte("x"), 0))
				size, err := unix.Getxattr(f.in(place), "user.note", make([]byte, 64))
				require.NoError(t, err)
				require.Equal(t, 1, size)
			}
			require.Equal(t, "f", f.read(f.in("src/f")))
			require.Equal(t, "x", f.read(f.in("out/x")))
			require.Equal(t, "SECRET", f.read(f.on("src/l")), "on the host")
		})
	}
}

// acrossMounts are what a name gets that is to leave a mount, or a rule.
var acrossMounts = []error{syscall.EACCES, syscall.EXDEV, syscall.EROFS}

// What no read path covers is not there, and what leads to one shows only that.
func TestReadPathsInTheView(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{ReadPaths: []string{"docs/a", "out"}, WritePaths: []string{"out"}},
			"docs/a/x=x", "docs/b=SECRET", "src/y=SECRET", "out/l => ../src/y", "notes=SECRET")
		require.Equal(t, []string{"docs", "out"}, names(t, f.mnt))
		require.Equal(t, []string{"a"}, names(t, f.in("docs")))
		require.Equal(t, "x", f.read(f.in("docs/a/x")))
		for _, place := range []string{"docs/b", "src", "src/y", "notes", "out/l", "nothing"} {
			_, err := os.ReadFile(f.in(place))
			require.ErrorIs(t, err, syscall.ENOENT, place)
			_, err = os.Stat(f.in(place))
			require.ErrorIs(t, err, syscall.ENOENT, place)
		}
		require.ErrorIs(t, write(f.in("docs/a/new"), "x"), syscall.EROFS)
		require.Error(t, write(f.in("new"), "x"))
		require.Error(t, os.Rename(f.in("out"), f.in("docs/out")))
		require.NoError(t, write(f.in("out/new"), "x"))
		require.Equal(t, "SECRET", f.read(f.on("out/l")), "on the host")

		// A file where a directory should lead there is not shown.
		require.NoError(t, os.RemoveAll(f.on("docs")))
		require.NoError(t, write(f.on("docs"), "SECRET"))
		eventually(t, 10e9, func() bool { _, err := os.ReadFile(f.in("docs")); return os.IsNotExist(err) }, "no directory")
		eventually(t, 10e9, func() bool { return !slices.Contains(names(t, f.mnt), "docs") }, "nor listed")
	})
}

// What has to be asked for lies where the kernel asks for opens.
func TestAskPlacesAreParts(t *testing.T) {
	for _, c := range []struct {
		cfg  pathresolver.Config
		want []string
	}{
		{pathresolver.Config{}, []string{". ro"}},
		{pathresolver.Config{AskWrite: []string{"src", "docs/**/*.md"}}, []string{". ro", "docs", "src"}},
		{pathresolver.Config{AskRead: []string{"src/x"}, WritePaths: []string{"src"}}, []string{". ro", "src"}},
		{pathresolver.Config{AskRead: []string{"**/*.pem"}}, []string{"."}},
		{pathresolver.Config{AskWrite: []string{"missing"}}, []string{"."}},
		{pathresolver.Config{AskWrite: []string{"missing/x", "src/missing"}}, []string{". ro", "src"}},
		{pathresolver.Config{AskRead: []string{"missing", "src/missing"}}, []string{". ro"}},
		{pathresolver.Config{AskWrite: []string{"src/x"}, Hide: []string{"src"}}, []string{". ro"}},
	} {
		cfg := c.cfg
		cfg.Root = t.TempDir()
		plant(t, cfg.Root, "src/x=x", "docs/")
		r, err := pathresolver.New(cfg)
		require.NoError(t, err)
		v, err := sandboxfs.New(r, sandboxfs.Options{})
		require.NoError(t, err)
		var got []string
		for _, p := range v.Mounts() {
			name := p.Place
			if p.ReadOnly {
				name += " ro"
			}
			got = append(got, name)
		}
		require.Equal(t, c.want, got)
		require.NoError(t, v.Close())
		require.NoError(t, r.Close())
	}
}

// What has to be asked for, in directories that the host makes later, is
// refused without being asked for: neither name leads to content then.
func TestAskedPlaceMadeLater(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{AskRead: []string{"late/vault", "key"}, AskWrite: []string{"late/ask"}}, "f=f")
		plant(t, f.root, "late/vault/a=SECRET", "late/ask/x=x", "late/plain=x", "key=SECRET")
		eventually(t, 60e9, func() bool { _, err := os.Stat(f.in("late/plain")); return err == nil }, "seen")
		for _, place := range []string{"late/vault/a", "late/VAULT"} {
			_, err := os.ReadFile(f.in(place))
			require.Error(t, err, place)
		}
		_, err := os.ReadFile(f.in("late/vault/a"))
		require.ErrorIs(t, err, syscall.EACCES)
		eventually(t, 60e9, func() bool { _, err = os.ReadFile(f.in("key")); return errors.Is(err, syscall.EACCES) }, "seen")
		_, err = os.ReadDir(f.in("late/vault"))
		require.ErrorIs(t, err, syscall.EACCES)
		require.Equal(t, []string{"ask", "plain", "vault"}, names(t, f.in("late")))
		_, err = os.ReadFile(f.in("late/vault/a"))
		require.ErrorIs(t, err, syscall.EACCES, "nor after it was listed")
		require.Error(t, write(f.in("late/ask/x"), "y"))
		require.Error(t, write(f.in("late/ask/new"), "y"))
		require.Equal(t, "x", f.read(f.in("late/ask/x")))
		require.Equal(t, "x", f.read(f.in("late/plain")), "what no rule names is read")
		require.Equal(t, "SECRET", f.read(f.on("late/vault/a")), "on the host")
	})
}
