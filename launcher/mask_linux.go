package launcher

import (
	"io/fs"
	"path/filepath"
)

// maxMasks bounds what a strange /etc can cost.
const maxMasks = 4096

// rootOnly lists what lies beneath dir and is not readable by everybody:
// shadow files, host keys, private TLS keys and their directories. Root needs
// no capability to read its own files, so a command that keeps uid 0 would
// read them (V14). The rule is the mode, not a list of names, so that the
// secrets of any package are covered; what everybody may read is no secret.
func rootOnly(dir string) []string {
	var masks []string
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || len(masks) == maxMasks {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return nil
		}
		want := fs.FileMode(0o004)
		if d.IsDir() {
			want = 0o001 // what can be passed through is looked at inside
		}
		if info.Mode()&want != 0 {
			return nil
		}
		masks = append(masks, p)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return masks
}
