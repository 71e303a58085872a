package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/confine"
)

// trialName is argv[0] of the child that tries what a run would do.
const trialName = "pinfold-trial"

// trial says what failed; "" is success.
type trial struct {
	Spawn string // the namespaces themselves
	Mount string // taking a directory from the host, and a tmpfs
	Proc  string // /proc for a new process namespace
	Fuse  string // a FUSE connection
	Tasks string // bounding the number of processes
}

// tryNamespaces starts a child in the namespaces of a run and has it try the
// mounts of a run.
func tryNamespaces() trial {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{trialName}
	cmd.Env = childEnv
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
	}
	if !privileged() {
		inUserNamespaceOfOwn(cmd.SysProcAttr)
	}
	out, err := cmd.Output()
	var t trial
	if err != nil {
		return trial{Spawn: err.Error()}
	}
	if err := json.Unmarshal(out, &t); err != nil {
		return trial{Spawn: err.Error()}
	}
	return t
}

// tryServing starts a child that gives up its rights as Config.Confine does, and
// says what was wrong; "" is nothing. It has this process's own /proc, as the
// serving process has.
func tryServing() string {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{trialName, trialConfine}
	cmd.Env = childEnv
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.Output()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

const trialConfine = "confine"

// trialMain is the child.
func trialMain() int {
	if slices.Contains(os.Args, trialConfine) {
		if err := tryConfine(); err != nil {
			fmt.Print(err)
		}
		return 0
	}
	text := func(err error) string {
		if err != nil {
			return err.Error()
		}
		return ""
	}
	t := trial{Mount: text(tryMount()), Proc: text(tryMade("proc")), Fuse: text(tryFuse()), Tasks: text(tryTasks())}
	if err := json.NewEncoder(os.Stdout).Encode(t); err != nil {
		return 1
	}
	return 0
}

func tryMount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	fd, err := clone(unix.AT_FDCWD, "/usr", attrReadOnly, 0)
	if err != nil {
		return err
	}
	unix.Close(fd)
	root, err := newMount("tmpfs", attrQuiet)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	return attachScaffold(root)
}

func tryMade(kind string, options ...string) error {
	fd, err := newMount(kind, attrQuiet, options...)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func tryFuse() error {
	fuse, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fuse)
	return tryMade("fuse", fmt.Sprintf("fd=%d", fuse), "rootmode=40000",
		fmt.Sprintf("user_id=%d", os.Getuid()), fmt.Sprintf("group_id=%d", os.Getgid()))
}

// tryTasks bounds this process's own namespace, in which it is process 1.
func tryTasks() error {
	most := tasks()
	if most == 0 {
		return errors.New("the kernel is older than Linux 6.14")
	}
	fd, err := newMount("proc", attrQuiet)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return boundTasks(&tree{fd: fd}, planStep{Path: strings.TrimPrefix(pidMax, "/proc"), Size: int64(most)})
}

// tryConfine gives up everything, and sees whether it is gone.
func tryConfine() error {
	if err := confine.Process(confine.Kept{}); err != nil {
		return err
	}
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	unix.Close(fd)
	return fmt.Errorf("version %d of Landlock refuses nothing", confine.ABI())
}

// sysctl reads a kernel setting; "" if there is none.
func sysctl(name string) string {
	data, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func initialUserNamespace() bool {
	data, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(data)), " ") == "0 0 4294967295"
}

func kernelVersion() (major, minor int) {
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		_, _ = fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor)
	}
	return major, minor
}

func actionAvailable(action *uint32) error {
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(action))); errno != 0 {
		return errno
	}
	return nil
}
