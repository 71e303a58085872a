//go:build linux

package sandboxfs_test

import (
	"log"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		if do, ok := childActions[os.Args[1]]; ok {
			if err := do(os.Args[2]); err != nil {
				log.Fatal(err)
			}
			return
		}
	}
	if err := ownNamespace(); err != nil {
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m)
}

// ownNamespace has the tests run in a mount namespace that shares nothing, so
// that no other process gets hold of what they mount, and nothing stays.
// Copies of what others mounted are let go of, for the same reason.
func ownNamespace() error {
	const mark = "-own-namespace"
	if os.Args[0] != mark {
		cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
		cmd.Args[0] = mark
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
		runtime.LockOSThread() // the child ends with this thread
		err := cmd.Run()
		if cmd.ProcessState == nil {
			return err
		}
		os.Exit(cmd.ProcessState.ExitCode())
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

// testLogger fails the test on what the server complains of.
func testLogger(t *testing.T) *log.Logger { return log.New(complaints{t}, "", 0) }

type complaints struct{ t *testing.T }

func (c complaints) Write(line []byte) (int, error) {
	if text := string(line); strings.Contains(text, "panic") {
		c.t.Error(text)
	} else {
		c.t.Log(strings.TrimSpace(text))
	}
	return len(line), nil
}

// childActions are done in a process of their own: a page fault in a file of
// the view stops the thread without the Go runtime knowing, which must not be
// the runtime that serves it.
var childActions = map[string]func(path string) error{
	"serve": serveInChild,
	"flock": func(path string) error {
		fd, err := unix.Open(path, unix.O_RDWR, 0)
		if err != nil {
			return err
		}
		return unix.Flock(fd, unix.LOCK_EX)
	},
	"mmap": func(path string) error {
		fd, err := unix.Open(path, unix.O_RDWR, 0)
		if err != nil {
			return err
		}
		shared, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		copy(shared, "mapped")
		if err := unix.Msync(shared, unix.MS_SYNC); err != nil {
			return err
		}
		return unix.Munmap(shared)
	},
}

// inChild prepares this test binary to do one of childActions.
func inChild(action, path string) *exec.Cmd {
	return exec.Command("/proc/self/exe", action, path)
}
