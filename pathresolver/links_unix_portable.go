//go:build (!linux || portable) && !windows

package pathresolver

import (
	"os"

	"golang.org/x/sys/unix"
)

// identify returns what tells a file from others, and how many names it has.
func identify(f *os.File) (dev, ino uint64, links uint32, err error) {
	var st unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &st)
	return uint64(st.Dev), st.Ino, uint32(st.Nlink), err
}
