package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate runs the measuring in a mount and a process namespace of its own:
// when it ends, by whatever, the kernel takes the mounts and the processes
// away with it. It is told to die when this process does.
func isolate(ctx context.Context, dir string, args []string, stdout, stderr *os.File) error {
	runtime.LockOSThread() // the death signal goes by the thread that forked
	defer runtime.UnlockOSThread()
	c := exec.CommandContext(ctx, filepath.Join(dir, "bin", "bench"), append([]string{"isolated", dir}, args...)...)
	c.Stdout, c.Stderr = stdout, stderr
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID, Pdeathsig: unix.SIGKILL}
	c.Cancel = func() error { return c.Process.Signal(unix.SIGTERM) }
	c.WaitDelay = 0 // it has loops with bounds, and Pdeathsig behind them
	err := c.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("measuring: %w", err)
	}
	return nil
}

// settle makes the namespaces private: nothing mounted here is seen outside,
// /proc shows the processes that are here, /dev/fuse is for everyone, as udev
// would have made it, and no peer fails for want of descriptors or of a
// set-user-id bit.
func settle(dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := openFUSE(); err != nil {
		return err
	}
	if err := allowFiles(); err != nil {
		return err
	}
	return letMergerfsMount(dir)
}

// allowFiles lets every process have as many files open as can be had: some
// peers hold a descriptor for each file that the kernel knows.
func allowFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	const enough = 1 << 19
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: enough, Max: max(enough, limit.Max)}) == nil {
		return nil
	}
	limit.Cur = limit.Max // more needs a right that not every root has
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("allow %d open files: %w", limit.Max, err)
	}
	return nil
}

// letMergerfsMount gives mergerfs's own fusermount, in this mount namespace
// only, the set-user-id bit that fusermount3 has and it lacks in Debian.
func letMergerfsMount(dir string) error {
	program, err := exec.LookPath("mergerfs-fusermount")
	if err != nil {
		return nil // no mergerfs, no column
	}
	copied := filepath.Join(dir, "bin", "mergerfs-fusermount")
	if err := command(context.Background(), "install", "-m", "4755", program, copied); err != nil {
		return err
	}
	if err := unix.Mount(copied, program, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("let mergerfs mount as an ordinary user: %w", err)
	}
	return nil
}

const (
	fuseDevice = "/dev/fuse"
	fuseMajor  = 10
	fuseMinor  = 229
)

// openFUSE lays a node with mode 0666 over a /dev/fuse that ordinary users
// may not open, in this mount namespace only.
func openFUSE() (err error) {
	info, err := os.Stat(fuseDevice)
	if err != nil {
		return fmt.Errorf("FUSE is missing (load the module fuse): %w", err)
	}
	if info.Mode().Perm()&0o006 == 0o006 {
		return nil
	}
	dir, err := os.MkdirTemp("", "pinfold-bench-dev-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	node := filepath.Join(dir, "fuse")
	if err := unix.Mknod(node, unix.S_IFCHR|0o666, int(unix.Mkdev(fuseMajor, fuseMinor))); err != nil {
		return fmt.Errorf("make a %s for everyone: %w", fuseDevice, err)
	}
	if err := os.Chmod(node, 0o666); err != nil { // whatever the umask is
		return err
	}
	if err := unix.Mount(node, fuseDevice, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("show a %s for everyone: %w", fuseDevice, err)
	}
	return nil
}
