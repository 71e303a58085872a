package launcher

import "golang.org/x/sys/unix"

const (
	auditArch  = unix.AUDIT_ARCH_X86_64
	foreignBit = 0x40000000 // x32: the same arch, other numbers
)

var legacyModeCalls = []modeCall{
	{nr: unix.SYS_OPEN, mode: 2, flags: 1},
	{nr: unix.SYS_CREAT, mode: 1, flags: none},
	{nr: unix.SYS_CHMOD, mode: 1, flags: none},
	{nr: unix.SYS_MKNOD, mode: 1, flags: none},
}

var legacyInotify = []uint32{unix.SYS_INOTIFY_INIT}

var legacyCalls = []watchedCall{
	{nr: unix.SYS_OPEN, request: "open", does: doesOpen, file: fileArg{none, 0}, flags: 1},
	byPath(unix.SYS_CREAT, "open", doesOpen, unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC),
	byPath(unix.SYS_MKDIR, "mkdir", doesMake, 0),
	byPath(unix.SYS_MKNOD, "mknod", doesMake, 0),
	{nr: unix.SYS_SYMLINK, request: "symlink", does: doesMake, file: fileArg{none, 1}, flags: none},
	byPath(unix.SYS_UNLINK, "unlink", doesRemove, 0),
	byPath(unix.SYS_RMDIR, "rmdir", doesRemove, unix.AT_REMOVEDIR),
	{nr: unix.SYS_RENAME, request: "rename", does: doesRename, file: fileArg{none, 0}, to: fileArg{none, 1}, flags: none},
	{nr: unix.SYS_LINK, request: "link", does: doesLink, file: fileArg{none, 0}, to: fileArg{none, 1}, flags: none},
	byPath(unix.SYS_CHMOD, "setattr", doesChange, 0),
	byPath(unix.SYS_CHOWN, "setattr", doesChange, 0),
	byPath(unix.SYS_LCHOWN, "setattr", doesChange, unix.AT_SYMLINK_NOFOLLOW),
	byPath(unix.SYS_UTIME, "setattr", doesChange, 0),
	byPath(unix.SYS_UTIMES, "setattr", doesChange, 0),
	at(unix.SYS_FUTIMESAT, "setattr", doesChange, none),
}
