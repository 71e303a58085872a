package inside

import (
	"golang.org/x/sys/unix"
)

// readOnlyMount reports whether a path lies on a mount that nobody writes.
func readOnlyMount(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
}
