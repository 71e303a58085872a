//go:build linux

package sandboxfs_test

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// A file HEAD makes a directory a repository to git on the host, and is not made
// where another file would lead git elsewhere. Both made at the same time are not
// let through either.
func TestGitRepositoryMadeAtOnce(t *testing.T) {
	f := mount(t, sandboxfs.Options{SingleConnection: true}, pathresolver.Config{WritePaths: []string{"out"}}, "out/")
	for n := range 2000 {
		dir := "out/" + itoa(n)
		require.NoError(t, os.MkdirAll(f.in(dir+"/objects/info"), 0o755))
		var wg sync.WaitGroup
		start := make(chan struct{})
		for _, name := range []string{"/HEAD", "/objects/info/alternates"} {
			wg.Go(func() {
				<-start
				if made, err := os.OpenFile(f.in(dir+name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
					made.Close()
				}
			})
		}
		close(start)
		wg.Wait()
		require.NotEqual(t, exists(f.on(dir+"/HEAD")), exists(f.on(dir+"/objects/info/alternates")), "one of them, and not both")
	}
}

// A git on the host prepares an index in a file beside it, and renames that: who had
// it open for writing would change the index after every check. It cannot be opened,
// cut, removed, replaced or exchanged, not even in the moment in which a lock of the
// agent's own gives way to it.
func TestLocksOfGitElsewhere(t *testing.T) {
	cfg := pathresolver.Config{WritePaths: []string{"."}}
	plant := []string{".git/HEAD=ref: refs/heads/m", ".git/refs/", ".git/objects/", ".git/config=", ".git/index.lock=host", ".git/packed-refs.new=host", "src/x=x"}
	attacks := map[string]func(f *fixture) error{
		"opened": func(f *fixture) error {
			lock, err := os.OpenFile(f.in(".git/index.lock"), os.O_RDWR, 0)
			if err == nil {
				err = lock.Close()
			}
			return err
		},
		"opened, of packed refs": func(f *fixture) error { return write(f.in(".git/packed-refs.new"), "x") },
		"cut":                    func(f *fixture) error { return os.Truncate(f.in(".git/index.lock"), 0) },
		"removed":                func(f *fixture) error { return os.Remove(f.in(".git/index.lock")) },
		"replaced":               func(f *fixture) error { return os.Rename(f.in("src/x"), f.in(".git/index.lock")) },
		"moved away":             func(f *fixture) error { return os.Rename(f.in(".git/index.lock"), f.in("src/lock")) },
		"exchanged": func(f *fixture) error {
			return unix.Renameat2(unix.AT_FDCWD, f.in("src/x"), unix.AT_FDCWD, f.in(".git/index.lock"), unix.RENAME_EXCHANGE)
		},
	}
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		for name, attack := range attacks {
			f := mount(t, o, cfg, plant...)
			require.Error(t, attack(f), name)
			require.Equal(t, "host", f.read(f.on(".git/index.lock")), name)
			open := cfg
			open.Unprotect = append(pathresolver.DefaultProtected(), ".git")
			f = mount(t, o, open, plant...)
			require.NoError(t, attack(f), "%s: without the rule it works", name)
		}
		f := mount(t, o, cfg, plant...)
		require.NoError(t, os.Remove(f.on(".git/index.lock")))
		require.NoError(t, write(f.in(".git/index.lock"), "x"), "one's own")
		require.NoError(t, write(f.in(".git/index.lock"), "y"))
		require.NoError(t, os.Remove(f.in(".git/index.lock")))
		require.ErrorIs(t, os.Remove(f.in(".git/index.lock")), os.ErrNotExist)
	})
}

// "git submodule update" writes a submodule's configuration again as it is: that is
// done, and changes nothing. Another text, or another name, is refused.
func TestGitConfigWrittenAgain(t *testing.T) {
	const config = ".git/modules/lib/config"
	f := mount(t, sandboxfs.Options{}, pathresolver.Config{WritePaths: []string{"."}},
		".git/HEAD=h", ".git/config=same", ".git/modules/lib/HEAD=h", config+"=same", "deep/config=same")
	before, err := os.Stat(f.on(config))
	require.NoError(t, err)
	move := func(text, from, to string) error {
		require.NoError(t, os.WriteFile(f.in(from), []byte(text), 0o644))
		return os.Rename(f.in(from), f.in(to))
	}
	for range 3 {
		require.NoError(t, move("same", config+".lock", config))
		require.NoFileExists(t, f.in(config+".lock"))
		require.NoFileExists(t, f.on(config+".lock"))
		text, err := os.ReadFile(f.in(config))
		require.NoError(t, err)
		require.Equal(t, "same", string(text))
	}
	for _, refused := range [][3]string{
		{"other", config + ".lock", config},
		{"same and more", config + ".lock", config},
		{"", config + ".lock", config},
		{"same", ".git/modules/lib/new", config},
		{"same", ".git/config.lock", ".git/config"},
	} {
		require.ErrorIs(t, move(refused[0], refused[1], refused[2]), unix.EROFS, "%v", refused)
		require.FileExists(t, f.on(refused[1]))
	}
	require.NoError(t, os.Remove(f.in(config+".lock")))
	require.NoError(t, os.Symlink("../../../deep/config", f.on(config+".lock"))) // by the host
	require.ErrorIs(t, os.Rename(f.in(config+".lock"), f.in(config)), unix.EROFS)
	after, err := os.Stat(f.on(config))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
	require.Equal(t, before.ModTime(), after.ModTime())
}
