package resolverbench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func lstat(f func(string) (fs.FileInfo, error), path string) loop {
	return func(n int) error {
		for range n {
			if _, err := f(path); err != nil {
				return err
			}
		}
		return nil
	}
}

// rename moves a file there and back; n is the number of moves.
func rename(f func(from, to string) error, from, to string) loop {
	return func(n int) error {
		for i := 0; i < n; i += 2 {
			if err := f(from, to); err != nil {
				return err
			}
			if err := f(to, from); err != nil {
				return err
			}
		}
		return nil
	}
}

func (w *world) oursRename(from, to string) error {
	return w.ours.Rename(from, to, pathresolver.RenameReplace)
}

func (w *world) full(path string) string { return filepath.Join(w.dir, path) }

// refuse asks to write where that is refused, and writes the whole message,
// with the reason and what would be allowed.
func refuse(r *pathresolver.Resolver, path string) loop {
	raw := fds(r)
	return func(n int) error {
		size := 0
		for range n {
			fd, err := raw.OpenFD(path, os.O_WRONLY, 0)
			var denied *pathresolver.DeniedError
			if !errors.As(err, &denied) {
				return fmt.Errorf("%s was not refused: descriptor %d, %w", path, fd, err)
			}
			size += len(denied.Error())
		}
		if size == 0 {
			return errors.New("a refusal says nothing")
		}
		return nil
	}
}
