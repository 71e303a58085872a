//go:build linux

package launcher

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probes are attempts to reach out. Each runs inside, where it must fail, and
// outside, where it must succeed, or it would prove nothing.
var probes = map[string]func(args []string) error{
	"read": func(args []string) error {
		_, err := os.ReadFile(args[0])
		return err
	},
	"write-open": func(args []string) error { // opens only: nothing is changed
		f, err := os.OpenFile(args[0], os.O_WRONLY, 0)
		if err == nil {
			f.Close()
		}
		return err
	},
	"chmod-same": func(args []string) error {
		mode, err := strconv.ParseUint(args[1], 8, 32)
		if err != nil {
			return err
		}
		return unix.Chmod(args[0], uint32(mode))
	},
	"connect": func(args []string) error { // @name is an abstract socket
		c, err := net.Dial("unix", args[0])
		if err == nil {
			c.Close()
		}
		return err
	},
	"signal": func(args []string) error {
		pid, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return unix.Kill(pid, 0)
	},
	"look-at-root-of": func(args []string) error {
		_, err := os.ReadDir("/proc/" + args[0] + "/root")
		return err
	},
	"by-handle": func(args []string) error {
		h, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, args[0], 0)
		if err != nil {
			return err
		}
		_ = mount
		dir, err := unix.Open(args[0], unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		_, err = unix.OpenByHandleAt(dir, h, unix.O_RDONLY)
		return err
	},
	"vsock": func([]string) error {
		_, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		return err
	},
	"keyctl": func([]string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true)
		return err
	},
	"reopen-stdin": func([]string) error {
		f, err := os.OpenFile("/proc/self/fd/0", os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("OVERWRITTEN")
		return err
	},
	"mount-in-userns": func([]string) error { return inUserNamespace("mount") },
	"umount-in-userns": func(args []string) error {
		return inUserNamespace("umount", args...)
	},
	"do-mount":  func([]string) error { return unix.Mount("none", "/tmp", "tmpfs", 0, "") },
	"do-umount": func(args []string) error { return unix.Unmount(args[0], unix.MNT_DETACH) },
	"sti": func([]string) error {
		// The high bits are ignored by the kernel, and must be by the filter.
		c := byte('x')
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI|1<<32, uintptr(unsafe.Pointer(&c)))
		if errno != 0 {
			return errno
		}
		return nil
	},
	"own-socket": func(args []string) error {
		l, err := net.Listen("unix", args[0])
		if err != nil {
			return err
		}
		defer l.Close()
		c, err := net.Dial("unix", args[0])
		if err == nil {
			c.Close()
		}
		return err
	},
	"open-many": func(args []string) error {
		want, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		for n := range want {
			if _, err := unix.Open(args[0], unix.O_RDONLY, 0); err != nil {
				return fmt.Errorf("%d files open: %w", n, err)
			}
		}
		return nil
	},
	"caps": func([]string) error { return noCapabilities() },
	"unshare": func([]string) error { // in a process of one thread
		out, err := exec.Command("unshare", "-U", "true").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, strings.ToLower(string(out)))
		}
		return nil
	},
	"clone": func([]string) error {
		cmd := exec.Command("true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		return cmd.Run()
	},
	"clone3": func([]string) error { // whether it made a process or not: it would be in no namespace
		_, _, errno := unix.RawSyscall(unix.SYS_CLONE3, 0, 0, 0)
		if errno == unix.EINVAL {
			return nil // it was looked at
		}
		return errno
	},
	"netlink": func(args []string) error {
		protocol, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return opens(unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, protocol))
	},
	"interfaces": func([]string) error {
		list, err := net.Interfaces()
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("there are none")
		}
		return err
	},
	// Whether a crash is dumped, where the command has asked for it or for none.
	"core": func(args []string) error {
		limit, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil {
			return err
		}
		if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
		cmd := exec.Command("sh", "-c", "kill -SEGV $$")
		cmd.Dir = args[1]
		_ = cmd.Run()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if status.Signal() != unix.SIGSEGV || !status.CoreDump() {
			return fmt.Errorf("%v, dumped: %v", cmd.ProcessState, status.CoreDump())
		}
		return nil
	},
	"fill": func(args []string) error { // as much of a directory as args[1] says
		size, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		defer os.Remove(args[0] + "/filled")
		return os.WriteFile(args[0]+"/filled", make([]byte, size), 0o600)
	},
	"files": func(args []string) error {
		want, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		dir, err := os.MkdirTemp(args[0], "")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		for n := range want {
			if err := os.Symlink("x", fmt.Sprint(dir, "/", n)); err != nil {
				return err
			}
		}
		return nil
	},

	// Calls that no common program makes.
	"setxattr": func(args []string) error { return unix.Setxattr(args[0], "user.x", []byte("x"), 0) },
	"fsetxattr": func(args []string) error {
		return withOpen(args[0], func(fd int) error { return unix.Fsetxattr(fd, "user.x", []byte("x"), 0) })
	},
	"lremovexattr": func(args []string) error { return unix.Lremovexattr(args[0], "user.x") },
	"fchmod": func(args []string) error {
		return withOpen(args[0], func(fd int) error { return unix.Fchmod(fd, 0o600) })
	},
	"fchown": func(args []string) error {
		return withOpen(args[0], func(fd int) error { return unix.Fchown(fd, -1, os.Getgid()) })
	},
	"futimes": func(args []string) error {
		return withOpen(args[0], func(fd int) error { return unix.Futimes(fd, make([]unix.Timeval, 2)) })
	},
	"lchown":    func(args []string) error { return unix.Lchown(args[0], -1, os.Getgid()) },
	"utime":     func(args []string) error { return unix.Utimes(args[0], make([]unix.Timeval, 2)) },
	"truncate":  func(args []string) error { return unix.Truncate(args[0], 0) },
	"tmpfile":   func(args []string) error { return opens(unix.Open(args[0], unix.O_TMPFILE|unix.O_RDWR, 0o600)) },
	"creat":     func(args []string) error { return opens(unix.Creat(args[0], 0o600)) },
	"open-path": func(args []string) error { return opens(unix.Open(args[0], unix.O_PATH|unix.O_RDWR, 0)) },
	"open-excl": func(args []string) error {
		return opens(unix.Open(args[0], unix.O_CREAT|unix.O_EXCL|unix.O_RDWR, 0o600))
	},
	"open-trunc": func(args []string) error { return opens(unix.Open(args[0], unix.O_TRUNC, 0)) },
	"openat2": func(args []string) error {
		return opens(unix.Openat2(unix.AT_FDCWD, args[0], &unix.OpenHow{Flags: unix.O_RDWR}))
	},
	"openat2-read": func(args []string) error {
		return opens(unix.Openat2(unix.AT_FDCWD, args[0], &unix.OpenHow{Flags: unix.O_RDONLY}))
	},
	"exchange": func(args []string) error {
		return unix.Renameat2(unix.AT_FDCWD, args[0], unix.AT_FDCWD, args[1], unix.RENAME_EXCHANGE)
	},
	"unlinkat": func(args []string) error { // from a descriptor of the directory
		return withOpen(args[0], func(fd int) error { return unix.Unlinkat(fd, args[1], 0) })
	},
	"link-by-fd": func(args []string) error {
		return withOpen(args[0], func(fd int) error { return unix.Linkat(fd, "", unix.AT_FDCWD, args[1], unix.AT_EMPTY_PATH) })
	},
}

func opens(fd int, err error) error {
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func withOpen(file string, do func(fd int) error) error {
	fd, err := unix.Open(file, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

// inUserNamespace tries again with all capabilities of a new user namespace.
func inUserNamespace(what string, args ...string) error {
	cmd := exec.Command("/proc/self/exe", append([]string{"probe", "do-" + what}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func noCapabilities() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if strings.HasPrefix(key, "Cap") && strings.Trim(value, "0") != "" || key == "NoNewPrivs" && value != "1" {
			return fmt.Errorf("%s is %s", key, value)
		}
	}
	return nil
}

// probe runs one by name: exit code 0 says that it succeeded.
func probe(name string, args []string) int {
	if err := probes[name](args); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}
