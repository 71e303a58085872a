package sandboxfs

import (
	"runtime"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// as runs create so that what it makes belongs to the caller from the first moment. A
// server that is not root, or may not act for others, makes everything as itself. The
// thread takes the caller's identifiers for file systems (setfsuid(2)) and keeps the
// right to pass permission checks: the kernel made those before it asked us, with
// groups that we do not know.
func (c *connection) as(who fuse.Caller, create func() error) error {
	if c.v.o.Unprivileged || c.self.UID != 0 || c.v.o.SquashIDs != nil || who.Uid == c.self.UID && who.Gid == c.self.GID {
		return create()
	}
	result := make(chan error, 1)
	go func() {
		// A thread that is not unlocked ends with its goroutine, so that no
		// other request ever runs with identifiers that could not be put back.
		runtime.LockOSThread()
		err := takeIDs(who.Uid, who.Gid)
		if err == nil {
			err = create()
			if takeIDs(c.self.UID, c.self.GID) == nil {
				runtime.UnlockOSThread()
			}
		}
		result <- err
	}()
	return <-result
}

// takeIDs sets the thread's file system identifiers and keeps the capability
// to override permission bits, which leaving uid 0 takes away (capabilities(7)).
func takeIDs(uid, gid uint32) error {
	if _, err := unix.SetfsgidRetGid(int(gid)); err != nil {
		return err
	}
	if _, err := unix.SetfsuidRetUid(int(uid)); err != nil {
		return err
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&hdr, &caps[0]); err != nil {
		return err
	}
	const override = 1 << unix.CAP_DAC_OVERRIDE
	if caps[0].Effective&override != 0 || caps[0].Permitted&override == 0 {
		return nil
	}
	caps[0].Effective |= override
	return unix.Capset(&hdr, &caps[0])
}

// setMode gives a new file the bits that this process's own umask took, and asks
// about it. The caller's umask is in mode already.
func (c *connection) setMode(fd int, mode uint32, sx *unix.Statx_t) error {
	err := statFD(fd, sx)
	if mode &= 0o7777; err != nil || mode&c.umask == 0 {
		return err
	}
	if err := chmodFD(fd, mode|uint32(sx.Mode)&unix.S_ISGID); err != nil { // which a directory inherits
		return err
	}
	return statFD(fd, sx)
}

// chmodFD is fchmod(2) for any descriptor, also an O_PATH one.
func chmodFD(fd int, mode uint32) error {
	err := fsat.Retry(func() error { return unix.Fchmodat(fd, "", mode, unix.AT_EMPTY_PATH) })
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS || err == unix.EINVAL { // before Linux 6.6
		err = unix.Chmod(procPath(fd), mode)
	}
	return err
}

// killPrivileges takes the set-user-id and set-group-id bits from a file that was
// changed by a process without the right to keep them. A server without
// capabilities cannot take them from another user's file, and need not: its own
// writes take them, as do those that the kernel makes for it.
func (c *connection) killPrivileges(fd int) error {
	var st unix.Stat_t
	if err := fsat.Fstat(fd, &st); err != nil {
		return err
	}
	kill := st.Mode & unix.S_ISUID
	if st.Mode&unix.S_IXGRP != 0 {
		kill |= st.Mode & unix.S_ISGID
	}
	if kill == 0 {
		return nil
	}
	err := chmodFD(fd, st.Mode&0o7777&^kill)
	if err == unix.EPERM && c.v.o.Unprivileged {
		return nil
	}
	return err
}

func procPath(fd int) string { return fsat.ProcPath(fd) }

func statFD(fd int, sx *unix.Statx_t) error {
	return fsat.Statx(fd, "", unix.AT_EMPTY_PATH, statxMask, sx)
}

// statNow is statFD without what the kernel remembers. A file system on FUSE or
// the network may not have told it of a link that was just made.
func statNow(fd int, sx *unix.Statx_t) error {
	return fsat.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_FORCE_SYNC, statxMask, sx)
}

// A program that the view runs gains nothing by set-user-id bits: the mount is
// nosuid. On the host they would make what the agent wrote run as the owner,
// which may be root. So none is made through a view.

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
