//go:build (!linux || portable) && !windows

package pathresolver

import (
	"os"

	"golang.org/x/sys/unix"
)

// identify describes an open file.
func identify(f *os.File) (FileID, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return FileID{Dev: uint64(st.Dev), Ino: st.Ino, Links: uint32(st.Nlink)}, err
}
