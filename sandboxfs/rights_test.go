//go:build linux

package sandboxfs_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// An unprivileged view gives root what root without capabilities has: nothing
// of what other users keep to themselves.
func TestUnprivileged(t *testing.T) {
	if !isRoot() {
		return // there is no other user
	}
	const other = 65534
	for name, o := range map[string]sandboxfs.Options{
		"guarded": {Passthrough: true, Unprivileged: true}, "unguarded": {Passthrough: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}},
				"src/secret=1", "src/private/x=1", "out/theirs=1", "out/secret=1", "out/private/x=1", "out/mine=1")
			for place, mode := range map[string]os.FileMode{
				"src/secret": 0o600, "src/private": 0o700,
				"out/theirs": 0o644, "out/secret": 0o600, "out/private": 0o700,
			} {
				require.NoError(t, os.Chown(f.on(place), other, other))
				require.NoError(t, os.Chmod(f.on(place), mode))
			}
			read := func(place string) error { _, err := os.ReadFile(f.in(place)); return err }
			enter := func(place string) error { _, err := os.ReadDir(f.in(place)); return err }
			for what, err := range map[string]error{
				"read, read-only part":  read("src/secret"),
				"enter, read-only part": enter("src/private"),
				"pass, read-only part":  read("src/private/x"),
				"access":                unix.Access(f.in("src/secret"), unix.R_OK),
				"read":                  read("out/secret"),
				"enter":                 enter("out/private"),
				"pass":                  read("out/private/x"),
				"write":                 write(f.in("out/theirs"), "2"),
				"create":                write(f.in("out/private/new"), "2"),
				"remove":                os.Remove(f.in("out/private/x")),
				"chmod":                 os.Chmod(f.in("out/theirs"), 0o666),
				"chown":                 os.Chown(f.in("out/mine"), other, other),
			} {
				switch {
				case name == "unguarded":
					require.NoError(t, err, what)
				case what == "chmod" || what == "chown":
					require.ErrorIs(t, err, syscall.EPERM, what)
				default:
					require.ErrorIs(t, err, syscall.EACCES, what)
				}
			}
		})
	}
	r, err := pathresolver.New(pathresolver.Config{Root: t.TempDir()})
	require.NoError(t, err)
	defer r.Close()
	_, err = sandboxfs.New(r, sandboxfs.Options{Unprivileged: true, AllowOther: true})
	require.ErrorContains(t, err, "excludes")
}
