package skilltest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// World is what a case starts with.
type World struct {
	Files      map[string]string // content by place; a name that ends in "/" is a directory
	WritePaths []string
	Enable     []string // skills that are off otherwise
}

// Surface is an implementation under test, over one World.
type Surface interface {
	// Skills are the names of what is offered.
	Skills() []string
	// Call runs one skill. A failure is a *fileskills.Error.
	Call(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error)
	// File is the content of a file as it is beneath the surface; false: none.
	File(place string) (string, bool)
}

// Starter makes a surface over a world. It ends with the test.
type Starter func(t *testing.T, w World) Surface

// OnSet is the surface of a Set; file is its Surface.File.
func OnSet(s *fileskills.Set, file func(place string) (string, bool)) Surface {
	return setSurface{s, file}
}

type setSurface struct {
	*fileskills.Set
	file func(string) (string, bool)
}

func (s setSurface) Skills() []string {
	var names []string
	for _, k := range s.Set.Skills() {
		names = append(names, k.Name)
	}
	return names
}

func (s setSurface) File(place string) (string, bool) { return s.file(place) }

// Put makes the files of w beneath root, a directory on disk. Names that lead
// out of it are refused.
func (w World) Put(root string) error {
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for name, content := range w.Files {
		if strings.HasSuffix(name, "/") {
			err = r.MkdirAll(path.Clean(name), 0o755)
		} else {
			err = errors.Join(r.MkdirAll(path.Dir(name), 0o755), r.WriteFile(name, []byte(content), 0o644))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Beneath is a Surface.File for a directory on disk.
func Beneath(root string) func(place string) (string, bool) {
	return func(place string) (string, bool) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(place)))
		return string(data), err == nil
	}
}
