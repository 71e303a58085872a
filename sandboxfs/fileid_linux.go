package sandboxfs

import (
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// fileID is how the resolver knows a file whose hard links it counts.
func fileID(sx *unix.Statx_t) pathresolver.FileID {
	id := pathresolver.FileID{Dev: unix.Mkdev(sx.Dev_major, sx.Dev_minor), Ino: sx.Ino, Links: sx.Nlink}
	if sx.Mask&unix.STATX_BTIME != 0 {
		id.Born = sx.Btime.Sec*1e9 + int64(sx.Btime.Nsec)
	}
	return id
}
