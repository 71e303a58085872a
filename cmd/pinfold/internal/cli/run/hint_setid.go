package run

import (
	"io/fs"
	"os"
	"path"
)

// findSetID returns a file beneath dir with a set-user-id or set-group-id bit, or
// "". A run cannot make one in its home, but what was there before stays. The
// directories that are nearest are looked at first, and no more than maxLooked
// names.
func findSetID(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }() // was only read
	looked := 0
	for queue := []string{"."}; len(queue) > 0; queue = queue[1:] {
		at, err := root.Open(queue[0])
		if err != nil {
			continue
		}
		entries, _ := at.ReadDir(maxLooked + 1 - looked) // what it could read
		_ = at.Close()                                   // likewise
		for _, e := range entries {
			if looked++; looked > maxLooked {
				return ""
			}
			name := path.Join(queue[0], e.Name())
			if e.IsDir() {
				queue = append(queue, name)
				continue
			}
			// Links have no mode of their own, and are not followed.
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
				return path.Join(dir, name)
			}
		}
	}
	return ""
}
