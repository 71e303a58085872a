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

func hiding() pathresolver.Config {
	return pathresolver.Config{WritePaths: []string{"out"}, Hide: []string{"**/.env", "**/secrets/**"}}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// A hidden name is not there: existing, nested, made later, moved into place,
// through a case variant, by listing.
func TestHidden(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, hiding(), ".env=secret", "src/deep/.env=secret", "src/ok=fine", "out/.env=secret", "out/plain=x")
		for _, place := range []string{".env", "src/deep/.env", "out/.env"} {
			_, err := os.ReadFile(f.in(place))
			require.ErrorIs(t, err, os.ErrNotExist, place)
			_, err = os.ReadFile(f.on(place))
			require.NoError(t, err, "on the host")
		}
		require.Equal(t, []string{"out", "src"}, names(t, f.mnt))
		require.Equal(t, []string{"plain"}, names(t, f.in("out")))

		plant(t, f.root, "src/later/.env=secret", "out/later/.env=secret")
		for _, place := range []string{"src/later", "out/later"} {
			eventually(t, 2*time.Second, func() bool { return exists(f.in(place)) }, "made on the host")
			require.Empty(t, names(t, f.in(place)))
			require.False(t, exists(f.in(place+"/.env")))
			require.False(t, exists(f.in(place+"/.ENV")), "letter case does not matter")
		}
		require.ErrorIs(t, write(f.in("out/.env2"), "x"), nil)
		require.ErrorIs(t, write(f.in("out/later/.env"), "x"), os.ErrNotExist)
		require.ErrorIs(t, os.Rename(f.in("out/plain"), f.in("out/later/.env")), os.ErrNotExist)
		require.ErrorIs(t, os.Link(f.in("out/plain"), f.in("out/later/.env")), os.ErrNotExist)
		require.Equal(t, "secret", f.read(f.on("out/later/.env")))
	})
}

// A directory does not move when something in it would come out of hiding.
func TestHiddenByMovingTheParent(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		cfg := pathresolver.Config{WritePaths: []string{"out"}, Hide: []string{"out/work/secrets"}}
		f := mount(t, o, cfg, "out/work/secrets/key=secret", "out/plain/x=1")
		require.ErrorIs(t, os.Rename(f.in("out/work"), f.in("out/work2")), syscall.EACCES)
		err := unix.Renameat2(unix.AT_FDCWD, f.in("out/work"), unix.AT_FDCWD, f.in("out/plain"), unix.RENAME_EXCHANGE)
		require.ErrorIs(t, err, syscall.EACCES)
		require.ErrorIs(t, os.Remove(f.in("out/work")), syscall.ENOTEMPTY, "it looks empty, but is not")
		require.Empty(t, names(t, f.in("out/work")))
		require.NoError(t, os.Rename(f.in("out/plain"), f.in("out/plain2")), "where nothing can be hidden")
		require.NoError(t, os.Rename(f.on("out/work"), f.on("out/work2")), "on the host")
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
