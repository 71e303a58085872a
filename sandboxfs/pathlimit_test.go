//go:build linux

package sandboxfs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// What can be made can be entered, listed and removed: nothing gets a name that is
// longer than a walk from the root may be.
func TestPathLimit(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/file=content", "out/dir/")
		top, err := unix.Open(f.in("out"), unix.O_RDONLY|unix.O_DIRECTORY, 0)
		require.NoError(t, err)
		defer unix.Close(top)
		dir, err := unix.Openat(top, "dir", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		require.NoError(t, err)
		place := "out/dir"
		for len(place) < 4095-200 {
			name := strings.Repeat("d", 150)
			place += "/" + name
			require.NoError(t, unix.Mkdirat(dir, name, 0o755))
			next, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			require.NoError(t, err)
			require.NoError(t, unix.Close(dir))
			dir = next
		}
		defer func() { _ = unix.Close(dir) }()
		longest := strings.Repeat("n", 4095-len(place)-1)
		for call, makes := range map[string]func(name string) error{
			"mkdir":   func(name string) error { return unix.Mkdirat(dir, name, 0o755) },
			"mknod":   func(name string) error { return unix.Mknodat(dir, name, unix.S_IFREG|0o644, 0) },
			"symlink": func(name string) error { return unix.Symlinkat("target", dir, name) },
			"create": func(name string) error {
				fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_RDWR, 0o644)
				_ = unix.Close(fd)
				return err
			},
			"link": func(name string) error { return unix.Linkat(top, "file", dir, name, 0) },
			"rename": func(name string) error {
				if err := unix.Mkdirat(top, "moves", 0o755); err != nil && err != unix.EEXIST {
					return err
				}
				return unix.Renameat(top, "moves", dir, name)
			},
		} {
			require.ErrorIs(t, makes(longest+"n"), unix.ENAMETOOLONG, call)
			var st unix.Stat_t
			require.ErrorIs(t, unix.Fstatat(dir, longest+"n", &st, unix.AT_SYMLINK_NOFOLLOW), unix.ENOENT, call)
			require.NoError(t, makes(longest), call)
			require.NoError(t, unix.Fstatat(dir, longest, &st, unix.AT_SYMLINK_NOFOLLOW), call)
			flags := 0
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				flags = unix.AT_REMOVEDIR
				fd, err := unix.Openat(dir, longest, unix.O_RDONLY|unix.O_DIRECTORY, 0)
				require.NoError(t, err, call)
				require.ErrorIs(t, unix.Mkdirat(fd, "x", 0o755), unix.ENAMETOOLONG, call)
				names, err := os.NewFile(uintptr(fd), longest).ReadDir(0)
				require.NoError(t, err, call)
				require.Empty(t, names, call)
			}
			require.NoError(t, unix.Unlinkat(dir, longest, flags), call)
		}

		// What the host made beyond may be moved to where it is reached, but nothing there.
		host, err := os.OpenRoot(f.on("out"))
		require.NoError(t, err)
		defer host.Close()
		deep, err := host.OpenRoot(strings.TrimPrefix(place, "out/"))
		require.NoError(t, err)
		defer deep.Close()
		beyond := strings.Repeat("h", len(longest)+1)
		require.NoError(t, deep.Mkdir(beyond, 0o755))
		require.ErrorIs(t, unix.Renameat2(dir, beyond, top, "file", unix.RENAME_EXCHANGE), unix.ENAMETOOLONG)
		require.NoError(t, unix.Renameat(dir, beyond, top, "near"))
		require.NoError(t, os.RemoveAll(f.in("out/dir")))
	})
}
