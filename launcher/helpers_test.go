//go:build linux

package launcher

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// ordinary is the user that tests run as besides root.
const ordinary = 1234

// deadline bounds every wait.
const deadline = 30 * time.Second

// shared is a copy of the test binary that every user can read, beside a
// /dev/fuse that every user can open.
var shared = sharedFiles{}

type sharedFiles struct {
	once sync.Once
	dir  string
	err  error
}

func (s *sharedFiles) fuseNode() string { return filepath.Join(filepath.Dir(os.Args[0]), "fuse") }

func (s *sharedFiles) binary(t testing.TB) string {
	s.once.Do(func() { s.err = s.make() })
	require.NoError(t, s.err)
	return filepath.Join(s.dir, "launcher.test")
}

func (s *sharedFiles) make() (err error) {
	if s.dir, err = os.MkdirTemp("", "pinfold-launcher-"); err != nil {
		return err
	}
	if err := os.Chmod(s.dir, 0o755); err != nil {
		return err
	}
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(filepath.Join(s.dir, "launcher.test"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := out.Close(); err != nil || os.Getuid() != 0 {
		return err
	}
	node := filepath.Join(s.dir, "fuse")
	if err := unix.Mknod(node, unix.S_IFCHR|0o666, int(unix.Mkdev(10, 229))); err != nil {
		return err
	}
	return os.Chmod(node, 0o666)
}

// as runs a test as root and as an ordinary user, or, when the tests are not
// run by root, as the user they are run by.
func as(t *testing.T, test func(t *testing.T, uid int)) {
	if os.Getuid() != 0 {
		test(t, os.Getuid())
		return
	}
	t.Run("root", func(t *testing.T) { test(t, 0) })
	t.Run("user", func(t *testing.T) { test(t, ordinary) })
}

// project makes base/root (with out/ in it) and base/outside/secret for uid.
func project(t testing.TB, uid int) (root, outside string) {
	t.Helper()
	base, err := os.MkdirTemp("", "pinfold-project-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	require.NoError(t, os.Chmod(base, 0o755))
	root, outside = filepath.Join(base, "root"), filepath.Join(base, "outside")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "out"), 0o755))
	require.NoError(t, os.MkdirAll(outside, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "ok.txt"), []byte("ok\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("SECRET\n"), 0o666))
	own(t, uid, base)
	return root, outside
}

// own gives a tree to uid, if we may.
func own(t testing.TB, uid int, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	require.NoError(t, filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(p, uid, uid))
	}))
}

// supervisor is a prepared supervisor process.
func supervisor(t testing.TB, j job) *exec.Cmd {
	t.Helper()
	spec, err := json.Marshal(j)
	require.NoError(t, err)
	cmd := exec.Command(shared.binary(t), "supervise", string(spec))
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if j.UID != 0 && os.Getuid() == 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS
		cmd.Env = append(os.Environ(), "HOME=/home/ordinary", "USER=ordinary", "LOGNAME=ordinary")
	}
	if j.Etc != "" || j.Dev && os.Getuid() == 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS
	}
	return cmd
}

// outcome is how a supervisor ended.
type outcome struct {
	code        int
	out, errOut string
}

// run runs a job to its end.
func run(t testing.TB, j job, stdin io.Reader) outcome {
	t.Helper()
	cmd := supervisor(t, j)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errOut
	require.NoError(t, cmd.Start())
	end(t, cmd)
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// end waits for a process, and kills it when it takes too long.
func end(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	late := time.AfterFunc(deadline, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	require.True(t, late.Stop(), "took longer than %v", deadline)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
}

// eventually polls a condition until the deadline.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	require.Eventually(t, cond, deadline, 10*time.Millisecond, what)
}

func statOf(info os.FileInfo) *syscall.Stat_t { return info.Sys().(*syscall.Stat_t) }
