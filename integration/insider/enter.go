package insider

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// enter makes a root file system that holds nothing but the view, at the
// project's own path, and acts there as an ordinary process of uid. It starts
// as root in mount and pid namespaces of its own.
func enter(args []string) error {
	if len(args) != 3 {
		return errors.New("enter MOUNT PATH UID")
	}
	from, project := args[0], args[1]
	const top = "/tmp" // any directory will do: it is covered in here alone
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	view, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.AT_RECURSIVE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.Mount("top", top, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	for dir, source := range map[string]string{"/proc": "proc", "/dev": "/dev"} {
		kind, flags := "proc", uintptr(0)
		if source != "proc" {
			kind, flags = "", unix.MS_BIND|unix.MS_REC
		}
		if err := errors.Join(os.Mkdir(top+dir, 0o755), unix.Mount(source, top+dir, kind, flags, "")); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(top+project, 0o755); err != nil {
		return err
	}
	if err := unix.MoveMount(view, "", unix.AT_FDCWD, top+project, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return err
	}
	if err := errors.Join(unix.Chdir(top), unix.PivotRoot(".", "."), unix.Unmount(".", unix.MNT_DETACH)); err != nil {
		return err
	}
	if err := become(args[2]); err != nil {
		return err
	}
	if err := unix.Chdir(project); err != nil {
		return err
	}
	return serve(nil)
}

// become gives up root for good, if uid is somebody else.
func become(uid string) error {
	id, err := strconv.Atoi(uid)
	if err != nil || id == os.Geteuid() {
		return err
	}
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(id), syscall.Setuid(id))
}

// as runs a program as uid; in mode "walker" openat2 does not exist for it. As
// root it starts in a mount namespace of its own, where it gets another
// /dev/fuse.
func as(args []string) error {
	if len(args) < 4 {
		return errors.New("as UID MODE FUSE PROGRAM [ARG...]")
	}
	runtime.LockOSThread() // the filter is this thread's, which will exec
	if os.Geteuid() == 0 {
		if err := errors.Join(
			unix.Mount("", "/dev", "", unix.MS_PRIVATE, ""),
			unix.Mount(args[2], "/dev/fuse", "", unix.MS_BIND, ""),
		); err != nil {
			return err
		}
	}
	if args[1] == "walker" {
		if err := withoutOpenat2(); err != nil {
			return err
		}
	}
	if err := become(args[0]); err != nil {
		return err
	}
	return unix.Exec(args[3], args[3:], os.Environ())
}

// withoutOpenat2 answers ENOSYS to openat2(2), as an old kernel does.
func withoutOpenat2() error { return refuse(unix.ENOSYS, unix.SYS_OPENAT2) }
