//go:build !linux

package hostpath

import "os"

// Open is os.OpenFile. Runs, which could plant links, are on Linux alone.
func Open(path string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}
