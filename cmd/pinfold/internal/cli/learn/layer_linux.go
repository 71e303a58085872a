package learn

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/learned"
)

// apart is how the process is started that lays the overlay: in a mount namespace of its
// own, and as an ordinary user in a user namespace in which nobody else is known.
func apart() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		// An overlay acts with the rights of who laid it: those over files are needed for
		// what is written to it, and reach this user's own files alone.
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN, unix.CAP_FSETID, unix.CAP_MKNOD}
	}
	return a
}

func noNamespaces(err error) error {
	return &cli.ExitError{Code: cli.ExitRunOwn, Err: fmt.Errorf("learn needs namespaces of its own: %w", err), Hint: "'pinfold doctor' says whether they can be had here"}
}

// NewLayer lays an overlay over a project and becomes a command of pinfold. It is hidden.
func NewLayer(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use:         "learned-layer -- ROOT COMMAND [ARG]...",
		Short:       "Lay a copy that is thrown away over a project, for learn",
		Hidden:      true,
		Annotations: map[string]string{cli.OwnErrors: "yes"},
		Args:        cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			runtime.LockOSThread() // the right to mount is a thread's
			if err := layer(args[0]); err != nil {
				return fmt.Errorf("a copy of '%s' that is thrown away cannot be had: %w", args[0], err)
			}
			self, err := child.Self()
			if err != nil {
				return err
			}
			return os.NewSyscallError("execve", unix.Exec(self, append([]string{"pinfold"}, args[1:]...), os.Environ()))
		},
	}
}

// layer lays an overlay over root, whose upper layer is in memory, and gives up the right
// to mount. It works in the first namespace alone that can be left again: its own.
func layer(root string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	lower, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("open", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(lower, &st); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	at := fmt.Sprintf("/proc/self/fd/%d", lower)
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0700"); err != nil {
		return os.NewSyscallError("mount tmpfs", err)
	}
	memory, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("open", err)
	}
	// The project's directory looks as its upper layer does.
	err = errors.Join(unix.Mkdirat(memory, "upper", 0o700), unix.Mkdirat(memory, "work", 0o700),
		unix.Fchownat(memory, "upper", int(st.Uid), int(st.Gid), 0), unix.Fchmodat(memory, "upper", st.Mode&0o7777, 0))
	if err != nil {
		return err
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=/proc/self/fd/%d/upper,workdir=/proc/self/fd/%[2]d/work,xino=auto", at, memory)
	if os.Geteuid() == 0 {
		options += ",redirect_dir=on"
	} else {
		options += ",userxattr"
	}
	if err := unix.Mount("overlay", at, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return os.NewSyscallError("mount overlay", err)
	}
	upper, err := unix.Openat(memory, "upper", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("open", err)
	}
	if err := unix.Dup3(upper, learned.Layer, 0); err != nil {
		return os.NewSyscallError("dup3", err)
	}
	// What stands at the path now is the overlay, or nothing is run.
	var fs unix.Statfs_t
	if err := errors.Join(unix.Chdir(root), unix.Statfs(".", &fs)); err != nil {
		return err
	}
	if fs.Type != unix.OVERLAYFS_SUPER_MAGIC {
		return errors.New("something else stands at its path now")
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	return endWithParent()
}

// endWithParent has this process killed when learn ends: the kernel has forgotten that it
// was to be, since rights were gained and given up (PR_SET_PDEATHSIG(2const)).
func endWithParent() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	// It may have ended before: then nobody reads what is told.
	told := []unix.PollFd{{Fd: learned.To}}
	if _, err := unix.Poll(told, 0); err != nil {
		return os.NewSyscallError("poll", err)
	}
	if told[0].Revents&unix.POLLERR != 0 {
		return errors.New("learn has ended")
	}
	return nil
}
