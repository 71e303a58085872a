package resolverbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// The paths that are opened. "w" is the write path; nothing else may be
// written.
const (
	depth1     = "f"
	fiveLinks  = "l1/l2/l3/l4/l5/f"
	writeFile  = "w/a/b/c/f"
	writeLink  = "w/link/f" // link => a/b/c
	deniedFile = "d1/d2/d3/d4/f"
	renameA    = "w/a/b/c/old"
	renameB    = "w/a/b/c/new"
)

var (
	depth5  = deep(5)
	depth20 = deep(20)
)

func deep(n int) string {
	var b strings.Builder
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "d%d/", i)
	}
	return b.String() + "f"
}

// world is one tree, held by everything that can hold one.
type world struct {
	dir    string
	dirFD  int
	root   *os.Root
	ours   *pathresolver.Resolver
	walker *pathresolver.Resolver
	held   *os.File
}

func newWorld(dir string) (_ *world, err error) {
	if err = grow(dir); err != nil {
		return nil, err
	}
	w := &world{dir: dir}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.held, err = os.Open(dir); err != nil {
		return nil, err
	}
	w.dirFD = int(w.held.Fd())
	if w.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	cfg := pathresolver.Config{Root: dir, WritePaths: []string{"w"}}
	if w.ours, err = pathresolver.New(cfg); err != nil {
		return nil, err
	}
	cfg.ForceWalker = true
	w.walker, err = pathresolver.New(cfg)
	return w, err
}

// close gives back what newWorld took; the tree stays for its owner.
func (w *world) close() {
	if w.walker != nil {
		_ = w.walker.Close()
	}
	if w.ours != nil {
		_ = w.ours.Close()
	}
	if w.root != nil {
		_ = w.root.Close()
	}
	if w.held != nil {
		_ = w.held.Close()
	}
}

// grow makes the files at every depth, and a path of five links: each of
// l1 ... l5 leads to a directory that holds the next one.
func grow(dir string) error {
	for _, p := range []string{depth1, depth5, depth20, writeFile, renameA, "r1/r2/r3/r4/r5/f"} {
		full := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, []byte("content\n"), 0o644); err != nil {
			return err
		}
	}
	at := dir
	for i := 1; i <= 5; i++ {
		if err := os.Symlink(fmt.Sprintf("r%d", i), filepath.Join(at, fmt.Sprintf("l%d", i))); err != nil {
			return err
		}
		at = filepath.Join(at, fmt.Sprintf("r%d", i))
	}
	return os.Symlink("a/b/c", filepath.Join(dir, "w", "link"))
}
