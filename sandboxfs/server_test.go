//go:build linux

package sandboxfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// serveInChild serves base/root at base/mnt until its standard input ends.
func serveInChild(base string) error {
	r, err := pathresolver.New(pathresolver.Config{Root: filepath.Join(base, "root"), WritePaths: []string{"out"}})
	if err != nil {
		return err
	}
	root := os.Geteuid() == 0
	v, err := sandboxfs.New(r, sandboxfs.Options{Passthrough: root, DefaultPermissions: root, SingleConnection: !root})
	if err != nil {
		return err
	}
	if err := v.Mount(filepath.Join(base, "mnt")); err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return v.Close()
}

// otherProcess starts serveInChild.
func otherProcess(t *testing.T) (base string, server *exec.Cmd) {
	t.Helper()
	base = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(base, "mnt"), 0o755))
	plant(t, filepath.Join(base, "root"), "src/x=read only", "out/x=mine")
	return base, childAt(t, base, nil)
}

// childAt has another process, of another user perhaps, serve what lies at base.
func childAt(t *testing.T, base string, who *syscall.SysProcAttr) *exec.Cmd {
	t.Helper()
	server := inChild("serve", base)
	server.SysProcAttr = who
	server.Stderr = os.Stderr
	stdin, err := server.StdinPipe()
	require.NoError(t, err)
	stdout, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		stdin.Close()
		late := time.AfterFunc(2*bound, func() { _ = server.Process.Kill() })
		_ = server.Wait()
		late.Stop()
		for _, dir := range []string{"mnt/out", "mnt"} { // of a server that was killed
			_ = unix.Unmount(filepath.Join(base, dir), unix.MNT_DETACH)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return server
}

// When the server is killed the view gives ENOTCONN, and nobody hangs.
func TestDeadServer(t *testing.T) {
	base, server := otherProcess(t)
	mnt := filepath.Join(base, "mnt")
	file, err := os.OpenFile(filepath.Join(mnt, "out/x"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, unix.Flock(int(file.Fd()), unix.LOCK_EX))
	waiter := inChild("flock", filepath.Join(mnt, "out/x"))
	require.NoError(t, waiter.Start())
	eventually(t, bound, func() bool { return waitsForServer(waiter.Process.Pid) }, "waiting for the lock")

	require.NoError(t, server.Process.Signal(syscall.SIGKILL))
	_ = server.Wait()
	require.Error(t, waiter.Wait(), "who waits for the server gets an error")
	_, err = os.Stat(filepath.Join(mnt, "src/other"))
	require.ErrorIs(t, err, syscall.ENOTCONN)
	require.ErrorIs(t, write(filepath.Join(mnt, "out/new"), ""), syscall.ENOTCONN)
}

// A signal ends a wait inside the view.
func TestInterrupt(t *testing.T) {
	base, _ := otherProcess(t)
	path := filepath.Join(base, "mnt/out/x")
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, unix.Flock(int(file.Fd()), unix.LOCK_EX))
	waiter := inChild("flock", path)
	require.NoError(t, waiter.Start())
	eventually(t, bound, func() bool { return waitsForServer(waiter.Process.Pid) }, "waiting for the lock")
	require.NoError(t, waiter.Process.Kill())
	ended := make(chan struct{})
	go func() { _ = waiter.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(bound):
		require.Fail(t, "a killed waiter stays")
	}
	require.NoError(t, unix.Flock(int(file.Fd()), unix.LOCK_UN))
}

// Ten thousand open files are served; one too many is an error for the process that opens.
func TestManyOpenFiles(t *testing.T) {
	base, server := otherProcess(t)
	path := filepath.Join(base, "mnt/out/x")
	const count = 10_000
	var limit unix.Rlimit // Go has raised it as far as it goes
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	require.Greater(t, limit.Cur, uint64(count+100))
	var open []int
	defer func() {
		for _, fd := range open {
			unix.Close(fd)
		}
	}()
	for range count {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		open = append(open, fd)
	}
	tight := unix.Rlimit{Cur: count, Max: limit.Max}
	require.NoError(t, unix.Prlimit(server.Process.Pid, unix.RLIMIT_NOFILE, &tight, nil))
	_, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	require.ErrorIs(t, err, syscall.EMFILE)
	tight.Cur = limit.Cur
	require.NoError(t, unix.Prlimit(server.Process.Pid, unix.RLIMIT_NOFILE, &tight, nil))
	require.NoError(t, write(path, "and it goes on"))
}

// waitsForServer reports whether some thread of a process waits for an answer.
func waitsForServer(pid int) bool { return waitingForServer(pid) > 0 }

// waitingForServer counts the threads of a process that wait for an answer.
func waitingForServer(pid int) (waiting int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
	for _, path := range threads {
		if data, err := os.ReadFile(path); err == nil && string(data) == "request_wait_answer" {
			waiting++
		}
	}
	return waiting
}

// An ordinary user mounts one connection, with the help of fusermount3.
func TestOrdinaryUser(t *testing.T) {
	if !isRoot() {
		return // root of a user namespace may use neither mount(2) outside nor fusermount3
	}
	openFuse(t)
	base := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(base), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(base, "mnt"), 0o755))
	plant(t, filepath.Join(base, "root"), "src/x=read only", "out/x=mine")
	user := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	require.NoError(t, filepath.WalkDir(base, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, 65534, 65534))
	}))
	server := childAt(t, base, user)
	require.NotNil(t, server.Process)
	script := `cd "$1" && cat src/x && echo changed > out/x && mkdir out/d && mv out/x out/d/y && ! (echo no > src/x) && test -w out/d/y && ! test -w src/x`
	cmd := exec.Command("/bin/sh", "-c", script, "sh", filepath.Join(base, "mnt"))
	cmd.SysProcAttr = user
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	data, err := os.ReadFile(filepath.Join(base, "root/out/d/y"))
	require.NoError(t, err)
	require.Equal(t, "changed\n", string(data))
}
