//go:build !portable

package pathresolver_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Rows S, T02: nothing that could block is handed out, and no call blocks.
func TestDirSpecialFiles(t *testing.T) {
	_, root := scene(t)
	require.NoError(t, unix.Mkfifo(filepath.Join(root, "a/fifo"), 0o644))
	l, err := net.Listen("unix", filepath.Join(root, "a/sock"))
	require.NoError(t, err)
	defer l.Close()
	modes(t, pathresolver.Config{Root: root}, func(t *testing.T, r *pathresolver.Resolver) {
		d, err := r.OpenDir("a")
		require.NoError(t, err)
		defer d.Close()
		require.Equal(t, []string{"fifop", "sockS"}, names(t, d))
		for _, name := range []string{"fifo", "sock"} {
			_, err = d.Open(name)
			denied(t, err, pathresolver.RuleSpecialFile)
			_, err = r.OpenRead("a/" + name)
			denied(t, err, pathresolver.RuleSpecialFile)
		}
		_, err = d.Open("fifo/x")
		require.ErrorIs(t, err, syscall.ENOTDIR)
	})
	fd, err := unix.Open(filepath.Join(root, "a/fifo"), unix.O_RDONLY|unix.O_NONBLOCK, 0)
	require.NoError(t, err, "without the guard it is opened")
	require.NoError(t, unix.Close(fd))
}

// What is mounted after New is refused; what stood there is walked.
func TestDirMounts(t *testing.T) {
	if os.Getuid() != 0 {
		return // mounting is for root; `make ci` runs both
	}
	base, root := scene(t, "before/", "after/")
	mount := func(name string) {
		at := filepath.Join(root, name)
		require.NoError(t, unix.Mount(filepath.Join(base, "outside"), at, "", unix.MS_BIND, ""))
		t.Cleanup(func() { require.NoError(t, unix.Unmount(at, unix.MNT_DETACH)) })
	}
	mount("before")
	for _, walker := range []bool{false, true} {
		r, err := pathresolver.New(pathresolver.Config{Root: root, ForceWalker: walker})
		require.NoError(t, err)
		defer r.Close()
		d, err := r.OpenDir(".")
		require.NoError(t, err)
		defer d.Close()
		if !walker {
			mount("after")
		}
		f, err := d.Open("before/secret")
		require.NoError(t, err)
		require.Equal(t, "before/secret", f.Place())
		require.NoError(t, f.Close())
		if !walker {
			_, err = d.Open("after/secret")
			denied(t, err, pathresolver.RuleMountPoint)
			_, err = d.OpenDir("after")
			denied(t, err, pathresolver.RuleMountPoint)
			_, err = os.ReadFile(filepath.Join(root, "after/secret"))
			require.NoError(t, err, "without the guard it is read")
		}
	}
}

// A name that is exchanged for a link while a walk goes down never
// shows what lies outside; opened by its path, it does.
func TestDirRaces(t *testing.T) {
	base, root := scene(t, "d/dir/secret = inside", "d/ld => ../../outside/dir")
	at, err := unix.Open(filepath.Join(root, "d"), unix.O_PATH|unix.O_DIRECTORY, 0)
	require.NoError(t, err)
	defer unix.Close(at)
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			_ = unix.Renameat2(at, "dir", at, "ld", unix.RENAME_EXCHANGE)
		}
	}()
	defer func() { stop.Store(true); <-done }()
	r, err := pathresolver.New(pathresolver.Config{Root: root})
	require.NoError(t, err)
	defer r.Close()
	d, err := r.OpenDir("d")
	require.NoError(t, err)
	defer d.Close()
	var reads, escapes int
	for range 20000 {
		f, err := d.Open("dir/secret")
		if err != nil {
			require.ErrorIs(t, err, syscall.ELOOP)
			continue
		}
		var text [16]byte
		n, _ := f.Read(text[:])
		f.Close()
		require.Equal(t, "inside", string(text[:n]))
		reads++
	}
	for i := 0; i < 200000 && escapes == 0; i++ {
		if data, err := os.ReadFile(filepath.Join(base, "root/d/dir/secret")); err == nil && string(data) == "SECRET" {
			escapes++
		}
	}
	require.Positive(t, reads)
	require.Positive(t, escapes, "without the guard it leads outside")
}

func BenchmarkDirReadDir(b *testing.B) {
	root := b.TempDir()
	for i := range 100 {
		require.NoError(b, os.WriteFile(filepath.Join(root, "file"+string(rune('a'+i%26))+filepath.Base(b.TempDir())+".go"), nil, 0o600))
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root})
	require.NoError(b, err)
	defer r.Close()
	top, err := r.OpenDir(".")
	require.NoError(b, err)
	defer top.Close()
	b.Run("dir", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if list, err := top.ReadDir(); err != nil || len(list) == 0 {
				b.Fatal(err)
			}
		}
	})
	b.Run("os", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if list, err := os.ReadDir(root); err != nil || len(list) == 0 {
				b.Fatal(err)
			}
		}
	})
}

// A listing is filtered by the rules about the directory that was opened,
// wherever the path leads by then; and no descriptor lists hidden names.
func TestListingOfAChangingLink(t *testing.T) {
	_, root := scene(t, "mixed/secret = SECRET", "mixed/f = f", "plain/f = f", "l => mixed", "m => plain")
	cfg := pathresolver.Config{Root: root, Hide: []string{"mixed/secret"}}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		at, other := filepath.Join(root, "l"), filepath.Join(root, "m")
		done := make(chan error, 1)
		go func() {
			var err error
			for range 2000 { // an even number: l leads to mixed again
				err = errors.Join(err, unix.Renameat2(unix.AT_FDCWD, at, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE))
			}
			done <- err
		}()
		for going := true; going; {
			select {
			case err := <-done:
				require.NoError(t, err)
				going = false
			default:
			}
			if list, err := r.ReadDir("l"); err == nil {
				require.Equal(t, "f", entryNames(list))
			}
		}
		_, err := r.OpenFD("mixed", os.O_RDONLY, 0)
		denied(t, err, pathresolver.RuleHidden)
		fd, err := r.OpenFD("plain", os.O_RDONLY, 0)
		require.NoError(t, err, "nothing is hidden there")
		require.NoError(t, unix.Close(fd))
	})
}
