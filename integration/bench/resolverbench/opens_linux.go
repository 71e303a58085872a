package resolverbench

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cyphar/filepath-securejoin/pathrs-lite"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// loop does one thing n times.
type loop func(n int) error

func (w *world) osOpen(path string) loop {
	full := filepath.Join(w.dir, path)
	return func(n int) error {
		for range n {
			f, err := os.Open(full)
			if err != nil {
				return err
			}
			_ = f.Close()
		}
		return nil
	}
}

func (w *world) osRoot(path string) loop {
	return func(n int) error {
		for range n {
			f, err := w.root.Open(path)
			if err != nil {
				return err
			}
			_ = f.Close()
		}
		return nil
	}
}

// pathrsLite opens a handle and reopens it for reading: the handle alone can
// not be read from.
func (w *world) pathrsLite(path string) loop {
	return func(n int) error {
		for range n {
			h, err := pathrs.OpenatInRoot(w.held, path)
			if err != nil {
				return err
			}
			f, err := pathrs.Reopen(h, unix.O_RDONLY|unix.O_CLOEXEC)
			_ = h.Close()
			if err != nil {
				return err
			}
			_ = f.Close()
		}
		return nil
	}
}

var errOutside = errors.New("outside")

// evalSymlinks is what most tools ship: safe only while nothing changes.
func (w *world) evalSymlinks(path string) loop {
	full, prefix := filepath.Join(w.dir, path), w.dir+"/"
	return func(n int) error {
		for range n {
			real, err := filepath.EvalSymlinks(full)
			if err != nil {
				return err
			}
			if !strings.HasPrefix(real, prefix) {
				return errOutside
			}
			f, err := os.Open(real)
			if err != nil {
				return err
			}
			_ = f.Close()
		}
		return nil
	}
}

// fds are the opens of a resolver without an *os.File.
func fds(r *pathresolver.Resolver) interface {
	OpenFD(unsafePath string, flag int, perm fs.FileMode) (int, error)
} {
	return resolved.Of(r).(interface {
		OpenFD(unsafePath string, flag int, perm fs.FileMode) (int, error)
	})
}

func openFD(r *pathresolver.Resolver, path string, flag int) loop {
	raw := fds(r)
	return func(n int) error {
		for range n {
			fd, err := raw.OpenFD(path, flag, 0)
			if err != nil {
				return err
			}
			_ = unix.Close(fd)
		}
		return nil
	}
}

func open(r *pathresolver.Resolver, path string) loop {
	return func(n int) error {
		for range n {
			f, err := r.Open(path)
			if err != nil {
				return err
			}
			_ = f.Close()
		}
		return nil
	}
}
