package launcher

import "golang.org/x/sys/unix"

// effect is what a watched call does to the file that it names.
type effect uint8

const (
	doesOpen   effect = iota // by its flags: makes, empties, or opens for writing
	doesMake                 // makes a name, which must not exist
	doesRemove               // removes a name
	doesRename               // moves one name to another
	doesLink                 // gives a file a second name
	doesResize               // changes the size
	doesChange               // changes mode, owner, times or attributes
)

// fileArg says which arguments of a call name a file: a directory's descriptor
// and a path from there. Without a directory the path starts at the working
// directory; without a path the descriptor is the file itself.
type fileArg struct{ dir, path int8 }

// none stands for an argument that a call does not have.
const none = -1

// watchedCall is a system call that changes a file or a name by its path.
type watchedCall struct {
	nr      uint32
	request string // the same as the view calls it in a refusal
	does    effect
	file    fileArg
	to      fileArg // the second name of a rename or a link
	flags   int8    // the argument with its flags
	fixed   uint64  // flags that it has without saying so
}

// watchedCalls are those of every architecture; legacyCalls, which only some
// have, follow. What acts on a descriptor that is open for writing is left
// out: none ever was in a mount that is read-only.
var watchedCalls = append([]watchedCall{
	at(unix.SYS_OPENAT, "open", doesOpen, 2),
	at(unix.SYS_OPENAT2, "open", doesOpen, 2), // its flags lie in memory
	at(unix.SYS_MKDIRAT, "mkdir", doesMake, none),
	at(unix.SYS_MKNODAT, "mknod", doesMake, none),
	{nr: unix.SYS_SYMLINKAT, request: "symlink", does: doesMake, file: fileArg{1, 2}, flags: none},
	at(unix.SYS_UNLINKAT, "unlink", doesRemove, 2),
	{nr: unix.SYS_RENAMEAT, request: "rename", does: doesRename, file: fileArg{0, 1}, to: fileArg{2, 3}, flags: none},
	{nr: unix.SYS_RENAMEAT2, request: "rename", does: doesRename, file: fileArg{0, 1}, to: fileArg{2, 3}, flags: 4},
	{nr: unix.SYS_LINKAT, request: "link", does: doesLink, file: fileArg{0, 1}, to: fileArg{2, 3}, flags: 4},
	byPath(unix.SYS_TRUNCATE, "setattr", doesResize, 0),
	byFD(unix.SYS_FCHMOD, "setattr"),
	at(unix.SYS_FCHMODAT, "setattr", doesChange, none),
	at(unix.SYS_FCHMODAT2, "setattr", doesChange, 3),
	byFD(unix.SYS_FCHOWN, "setattr"),
	at(unix.SYS_FCHOWNAT, "setattr", doesChange, 4),
	at(unix.SYS_UTIMENSAT, "setattr", doesChange, 3),
	byPath(unix.SYS_SETXATTR, "setxattr", doesChange, 0),
	byPath(unix.SYS_LSETXATTR, "setxattr", doesChange, unix.AT_SYMLINK_NOFOLLOW),
	byFD(unix.SYS_FSETXATTR, "setxattr"),
	at(unix.SYS_SETXATTRAT, "setxattr", doesChange, 2),
	byPath(unix.SYS_REMOVEXATTR, "removexattr", doesChange, 0),
	byPath(unix.SYS_LREMOVEXATTR, "removexattr", doesChange, unix.AT_SYMLINK_NOFOLLOW),
	byFD(unix.SYS_FREMOVEXATTR, "removexattr"),
	at(unix.SYS_REMOVEXATTRAT, "removexattr", doesChange, 2),
}, legacyCalls...)

// at is a call with a directory and a path first.
func at(nr uint32, request string, does effect, flags int8) watchedCall {
	return watchedCall{nr: nr, request: request, does: does, file: fileArg{0, 1}, flags: flags}
}

// byPath is a call with a path first.
func byPath(nr uint32, request string, does effect, fixed uint64) watchedCall {
	return watchedCall{nr: nr, request: request, does: does, file: fileArg{none, 0}, flags: none, fixed: fixed}
}

// byFD is a call that changes the file of a descriptor.
func byFD(nr uint32, request string) watchedCall {
	return watchedCall{nr: nr, request: request, does: doesChange, file: fileArg{0, none}, flags: none}
}

// callOf finds a call by its number.
func callOf(nr uint32) *watchedCall {
	for i := range watchedCalls {
		if watchedCalls[i].nr == nr {
			return &watchedCalls[i]
		}
	}
	return nil
}

// twoFiles: the call has a second name.
func (c *watchedCall) twoFiles() bool { return c.does == doesRename || c.does == doesLink }
