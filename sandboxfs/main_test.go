//go:build linux

package sandboxfs_test

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// A change is tested by the same random cases each time, so that a failure is
// the change's own. PINFOLD_LONG=1 draws others, and -rapid.seed=0 does.
func init() {
	if os.Getenv("PINFOLD_LONG") == "" {
		_ = flag.Set("rapid.seed", "1")
	}
}

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
	"serve":     serveInChild,
	"lock":      lockInChild,
	"map":       mapInChild,
	"print-map": printMap,
	"open-many": openManyInChild,
	"no-capset": viewWithoutCapset,
	"stat1000": func(prefix string) error {
		got := make(chan error)
		for i := range 1000 {
			go func() {
				var st unix.Stat_t
				got <- unix.Lstat(fmt.Sprint(prefix, i), &st)
			}()
		}
		var err error
		for range 1000 {
			err = errors.Join(err, <-got)
		}
		return err
	},
	"hold-map": func(path string) error {
		fd, err := unix.Open(path, unix.O_RDWR, 0)
		if err != nil {
			return err
		}
		shared, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		copy(shared, "mapped")
		fmt.Print(".")
		if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
			return err
		}
		fmt.Print(shared[0])
		return nil
	},
	"flock": func(path string) error {
		fd, err := unix.Open(path, unix.O_RDWR, 0)
		if err != nil {
			return err
		}
		return unix.Flock(fd, unix.LOCK_EX)
	},
	"truncate": func(path string) error {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_TRUNC, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
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
