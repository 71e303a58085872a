package agents

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/insider"
)

var update = flag.Bool("update", false, "write testdata's transcripts anew")

// What TestMain makes once.
var (
	// arena is a directory that every user can enter, and root's mounts in it.
	arena     string
	installed string // what .ci/agents has prepared, seen in the arena
	pinfold   string // cmd/pinfold, as it is shipped; $PINFOLD_BIN if set
)

// users are whom the agents run as: root and somebody, or the one who tests.
func users() []int {
	if os.Geteuid() == 0 {
		return []int{0, 65534}
	}
	return []int{os.Geteuid()}
}

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "insider" {
		os.Exit(insider.Main(os.Args[1:]))
	}
	os.Exit(run(m))
}

// alone is set in the environment of the tests themselves, which root runs where there
// is no network but loopback: the arena that is ready.
const alone = "PINFOLD_AGENTS_ARENA"

func run(m *testing.M) (code int) {
	var err error
	if arena = os.Getenv(alone); arena != "" {
		place()
		if err := raiseLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}
	if arena, err = os.MkdirTemp("", "pinfold-agents-"); err == nil {
		defer func() {
			if err := dismantle(); err != nil {
				fmt.Fprintln(os.Stderr, "something is left behind:", err)
				code = 1
			}
		}()
		err = prepare()
	}
	switch {
	case err != nil:
	case os.Geteuid() == 0:
		var ended *exec.ExitError
		if err = withoutNetwork(); errors.As(err, &ended) {
			return max(ended.ExitCode(), 1)
		}
	default:
		return m.Run() // an ordinary user may not be able to
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// withoutNetwork runs the tests in a process that has loopback alone: whatever an agent
// wants of the world, it does not get.
func withoutNetwork() error {
	runtime.LockOSThread() // whose end would be the tests' own
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), alone+"="+arena)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	return cmd.Run()
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // only asked
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
	}
	return err
}

// TestNothingButLoopback holds that root's tests reach no other machine.
func TestNothingButLoopback(t *testing.T) {
	if os.Geteuid() != 0 {
		return // the machine's network is there
	}
	conn, err := net.DialTimeout("tcp", "192.0.2.1:443", 10*time.Second)
	if err == nil {
		_ = conn.Close() // it is the failure
	}
	require.ErrorIs(t, err, syscall.ENETUNREACH)
}

// place says where in the arena things are.
func place() { pinfold, installed = filepath.Join(arena, "pinfold"), filepath.Join(arena, "agents") }

func prepare() error {
	place()
	if err := errors.Join(os.Chmod(arena, 0o755), copyFile("/proc/self/exe", filepath.Join(arena, "insider"))); err != nil {
		return err
	}
	if ready := os.Getenv("PINFOLD_BIN"); ready != "" {
		if err := copyFile(ready, pinfold); err != nil {
			return err
		}
	} else {
		cmd := exec.Command("go", "build", "-o", pinfold, "../../cmd/pinfold")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	get := exec.Command("sh", "../../.ci/agents")
	get.Stderr = os.Stderr
	out, err := get.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", get, err)
	}
	dir := strings.TrimSpace(string(out))
	if os.Geteuid() != 0 {
		installed = dir
		return nil
	}
	// The cache may lie where only root can look, and /dev/fuse be root's.
	fuse := filepath.Join(arena, "fuse")
	return errors.Join(
		os.Mkdir(installed, 0o755),
		unix.Mount(dir, installed, "", unix.MS_BIND, ""),
		unix.Mknod(fuse, unix.S_IFCHR, int(unix.Mkdev(10, 229))),
		os.Chmod(fuse, 0o666),
	)
}

func dismantle() error {
	if os.Geteuid() == 0 {
		if err := unix.Unmount(installed, 0); err != nil {
			return err // what is beneath is not to be removed
		}
	}
	return os.RemoveAll(arena)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// asUser is a command that runs a program as uid, with a /dev/fuse that it may open.
func asUser(uid int, program ...string) *exec.Cmd {
	if uid == os.Geteuid() {
		return exec.Command(program[0], program[1:]...)
	}
	cmd := exec.Command(filepath.Join(arena, "insider"),
		append([]string{"as", strconv.Itoa(uid), "openat2", filepath.Join(arena, "fuse")}, program...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	return cmd
}
