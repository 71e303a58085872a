//go:build unix

package fileskills

import (
	"io/fs"
	"os"
	"syscall"
)

// sameFile is os.SameFile, for descriptions from the resolver as well.
func sameFile(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	if ok && also {
		return x.Dev == y.Dev && x.Ino == y.Ino
	}
	return os.SameFile(a, b)
}
