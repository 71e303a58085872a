//go:build !linux

package hostpath

import (
	"os"

	"github.com/pinfold-dev/pinfold/access"
)

// Open is os.OpenFile. Runs, which could plant links, are on Linux alone.
func Open(path string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}

// Owner is the user id that a file belongs to, if that can be told.
func Owner(string) (uid int, known bool) { return 0, false }

// ModeRefuses is known on Linux alone.
func ModeRefuses(access.Op, string) (f ModeOf, refused bool) { return f, false }
