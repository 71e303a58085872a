//go:build linux

package sandboxfs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The tests run again in this very program, under one of these names.
const (
	asRoot     = "sandboxfs-tests-as-root"
	inUserNS   = "sandboxfs-tests-in-user-namespace"
	deviceFuse = "/dev/fuse"
)

// isRoot says that the tests are run by root in the initial user namespace.
// An ordinary user runs them as root of a namespace of its own: it can mount,
// but has no passthrough, no second user, no devices and no say over caches.
func isRoot() bool { return os.Args[0] == asRoot }

// ownNamespace has the tests run in a mount namespace that shares nothing, so
// that no other process gets hold of what they mount, and nothing stays.
// Copies of what others mounted are let go of, for the same reason.
func ownNamespace() error {
	if os.Args[0] != asRoot && os.Args[0] != inUserNS {
		return again()
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(info)) {
		if fields := strings.Fields(line); strings.Contains(line, " - fuse.") {
			_ = unix.Unmount(fields[4], unix.MNT_DETACH)
		}
	}
	return nil
}

// again runs this program in new namespaces and exits as it does.
func again() error {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = asRoot
	// Go's scheduler sends threads signals, one of which may find its thread in a
	// system call that waits and can be interrupted.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.Args[0] = inUserNS
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	runtime.LockOSThread() // the child ends with this thread
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	os.Exit(cmd.ProcessState.ExitCode())
	return nil
}

// openFuse lets every user open /dev/fuse in this namespace, as most systems do.
func openFuse(t *testing.T) {
	t.Helper()
	node := filepath.Join(t.TempDir(), "fuse")
	if err := unix.Mknod(node, unix.S_IFCHR|0o666, int(unix.Mkdev(10, 229))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(node, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(node, deviceFuse, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(deviceFuse, unix.MNT_DETACH) })
}
