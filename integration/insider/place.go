package insider

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// places are what a machine can lack, by the name by which a test prepares it. Each is
// called as root of a mount namespace of its own.
var places = map[string]func() error{
	"no /dev/fuse":   withoutFuse,
	"/dev/fuse 0600": func() error { return overFuse(0o600) },
	"no user namespaces": func() error {
		// The limit of a user namespace that holds for what is made in it.
		return os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	},
	"no procfs":      func() error { return unix.Unmount("/proc", unix.MNT_DETACH) },
	"no mount":       func() error { return refuse(unix.EPERM, mountCalls...) },
	"no clone flags": refuseNamespaces,
	"container": func() error { // what Docker's default list refuses without CAP_SYS_ADMIN
		return errors.Join(refuse(unix.EPERM, append(mountCalls, unix.SYS_SETNS)...), refuseNamespaces())
	},
	"no pivot_root":       func() error { return refuse(unix.EPERM, unix.SYS_PIVOT_ROOT) },
	"chroot":              chroot,
	"read-only /tmp":      readOnlyTmp,
	"no newuidmap":        withoutNewuidmap,
	"no openat2 (ENOSYS)": func() error { return refuse(unix.ENOSYS, unix.SYS_OPENAT2) },
	"no openat2 (EPERM)":  func() error { return refuse(unix.EPERM, unix.SYS_OPENAT2) },
	"no cgroup": func() error {
		err := unix.Unmount("/sys/fs/cgroup", unix.MNT_DETACH)
		if err == unix.EINVAL {
			return nil // there was none
		}
		return err
	},
	"nothing missing": func() error { return nil },
}

// mountCalls change what is mounted where.
var mountCalls = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
}

// place runs a program as uid where something is missing. It starts as root, of this
// machine or of a user namespace, in a mount namespace of its own.
func place(args []string) error {
	if len(args) < 4 || places[args[0]] == nil {
		return errors.New("place NAME UID FUSE PROGRAM [ARG...]; unknown: " + strings.Join(args, " "))
	}
	runtime.LockOSThread() // filters are this thread's, which will exec
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if args[2] != "" {
		if err := unix.Mount(args[2], "/dev/fuse", "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	if err := places[args[0]](); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if err := become(args[1]); err != nil {
		return err
	}
	return unix.Exec(args[3], args[3:], os.Environ())
}

// withoutFuse lays a /dev over the real one that has all that programs need.
func withoutFuse() error {
	const aside = "/mnt"
	if err := unix.Mount("dev", aside, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		to := filepath.Join(aside, name)
		if err := errors.Join(os.WriteFile(to, nil, 0o644), unix.Mount("/dev/"+name, to, "", unix.MS_BIND, "")); err != nil {
			return err
		}
	}
	return unix.Mount(aside, "/dev", "", unix.MS_MOVE, "")
}

// overFuse lays a device over /dev/fuse that has a mode.
func overFuse(mode uint32) error {
	const aside = "/mnt"
	if err := unix.Mount("dev", aside, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	node := filepath.Join(aside, "fuse")
	return errors.Join(
		unix.Mknod(node, unix.S_IFCHR|mode, int(unix.Mkdev(10, 229))),
		unix.Mount(node, "/dev/fuse", "", unix.MS_BIND, ""),
		unix.Unmount(aside, unix.MNT_DETACH),
	)
}

// readOnlyTmp leaves what is mounted beneath it as it is.
func readOnlyTmp() error {
	return errors.Join(
		unix.Mount("/tmp", "/tmp", "", unix.MS_BIND|unix.MS_REC, ""),
		unix.Mount("", "/tmp", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""),
	)
}

// chroot makes a root that is no mount of its own, of a copy of all mounts.
func chroot() error {
	const aside = "/mnt"
	if err := unix.Mount("top", aside, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	top := aside + "/top"
	if err := os.Mkdir(top, 0o755); err != nil {
		return err
	}
	list, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range list {
		from, to := "/"+e.Name(), filepath.Join(top, e.Name())
		switch {
		case from == aside:
		case e.Type()&os.ModeSymlink != 0:
			link, err := os.Readlink(from)
			if err = errors.Join(err, os.Symlink(link, to)); err != nil {
				return err
			}
		case e.IsDir():
			if err := errors.Join(os.Mkdir(to, 0o755), unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, "")); err != nil {
				return err
			}
		}
	}
	here, err := os.Getwd()
	return errors.Join(err, unix.Chroot(top), unix.Chdir(here))
}

func withoutNewuidmap() error {
	for _, name := range []string{"newuidmap", "newgidmap"} {
		at, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if err := unix.Mount("/dev/null", at, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

// refuse answers system calls with an error.
func refuse(with unix.Errno, calls ...uint32) error {
	var filter []unix.SockFilter
	filter = append(filter, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}) // seccomp_data.nr
	for _, nr := range calls {
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(with)})
	}
	return install(filter)
}

// refuseNamespaces answers EPERM to clone(2) and unshare(2) with any flag of a
// namespace, and ENOSYS to clone3(2), whose flags a filter cannot see.
func refuseNamespaces() error {
	const any = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	if err := refuse(unix.ENOSYS, unix.SYS_CLONE3); err != nil {
		return err
	}
	for _, nr := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		if err := install([]unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jf: 3},
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, // the low half of the first argument
			{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: any, Jf: 1},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		}); err != nil {
			return err
		}
	}
	return nil
}

// install has this thread, and what it executes, answered by a filter that allows what
// it does not refuse. Root needs no no_new_privs for it, which would take fusermount3
// its power.
func install(filter []unix.SockFilter) error {
	if os.Geteuid() != 0 {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
}
