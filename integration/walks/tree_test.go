package walks

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

// reader turns bytes into choices.
type reader struct{ b []byte }

func (r *reader) pick(n int) int {
	if len(r.b) == 0 {
		return 0
	}
	c := int(r.b[0]) % n
	r.b = r.b[1:]
	return c
}

// grow makes the tree: names a to d in directories, links to random paths.
func (w *walks) grow(src reader) {
	require.NoError(w.t, os.MkdirAll(w.root+"/wr", 0o755))
	require.NoError(w.t, os.MkdirAll(w.base+"/outside/a", 0o755))
	require.NoError(w.t, os.WriteFile(w.base+"/outside/b", []byte("SECRET"), 0o644))
	dirs := []string{w.root, w.root + "/wr"}
	for len(src.b) > 0 {
		at := filepath.Join(dirs[src.pick(len(dirs))], string(rune('a'+src.pick(4))))
		switch src.pick(4) {
		case 0:
			if os.Mkdir(at, 0o755) == nil {
				dirs = append(dirs, at)
			}
		case 1:
			if _, err := os.Lstat(at); err != nil {
				require.NoError(w.t, os.WriteFile(at, []byte(at), 0o644))
			}
		default:
			_ = os.Symlink(w.path(&src), at) // the name may be taken
		}
	}
}

// path makes a path of up to six components.
func (w *walks) path(src *reader) string {
	words := []string{"a", "b", "c", "d", "..", ".", "", "wr", "a", "b"}
	var p strings.Builder
	switch src.pick(12) {
	case 0:
		p.WriteString(w.root + "/")
	case 1:
		p.WriteString(w.base + "/outside/")
	case 2:
		p.WriteString("../")
	}
	for i := range src.pick(6) + 1 {
		if i > 0 {
			p.WriteByte('/')
		}
		p.WriteString(words[src.pick(len(words))])
	}
	if p.Len() == 0 {
		return "a"
	}
	return p.String()
}

// String lists the tree, for messages.
func (w *walks) String() string {
	var b strings.Builder
	_ = filepath.WalkDir(w.root, func(p string, d fs.DirEntry, _ error) error {
		target, _ := os.Readlink(p)
		fmt.Fprintf(&b, "\n%s %s %s", d.Type(), strings.TrimPrefix(p, w.root), target)
		return nil
	})
	return b.String()
}
