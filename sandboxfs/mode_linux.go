package sandboxfs

import "golang.org/x/sys/unix"

// A program that the view runs gains nothing by set-user-id bits: the mount is
// nosuid. On the host they would make whatever the agent wrote run as the
// owner, who may be root. So none is made through a view.

// plainMode is the mode that a new file gets: without set-user-id, and, but
// for directories, without set-group-id.
func plainMode(mode uint32, dir bool) uint32 {
	mode &^= unix.S_ISUID
	if !dir {
		mode &^= unix.S_ISGID
	}
	return mode
}

// armed reports whether a change of mode would add one of those bits. One that
// the host gave a file may stay.
func armed(from uint16, to uint32) bool {
	added := to &^ uint32(from)
	dir := from&unix.S_IFMT == unix.S_IFDIR
	return added != plainMode(added, dir)
}
