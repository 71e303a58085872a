//go:build !portable

package pathresolver_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// faultEnv makes this test binary a child in which openat2 fails.
const faultEnv = "PINFOLD_TEST_OPENAT2_ERRNO"

// An openat2 that is missing (ENOSYS), forbidden by a seccomp filter (EPERM),
// or says EAGAIN for ever, leaves the walker, and the same verdicts.
func TestOpenat2Fails(t *testing.T) {
	if errno := os.Getenv(faultEnv); errno != "" {
		var n uint32
		_, err := fmt.Sscan(errno, &n)
		require.NoError(t, err)
		inFaultyChild(t, n)
		return
	}
	for _, errno := range []unix.Errno{unix.ENOSYS, unix.EPERM, unix.EAGAIN} {
		t.Run(errno.Error(), func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestOpenat2Fails$", "-test.v")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", faultEnv, errno))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "walker verdicts hold")
		})
	}
}

// fail makes a system call fail in this process from now on; where mask is not
// 0, only when its argument has all of these bits.
func fail(t *testing.T, call uint32, errno unix.Errno, arg int, mask uint32) {
	t.Helper()
	// The filter is for every thread; the runtime's own need none of these.
	runtime.LockOSThread()
	require.NoError(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the system call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 4},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(16 + 8*arg)}, // the low half, on little-endian
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: mask, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	require.Zero(t, e)
}

func inFaultyChild(t *testing.T, errno uint32) {
	fail(t, unix.SYS_OPENAT2, unix.Errno(errno), 0, 0)
	_, root := scene(t, "out/", "out/ld => ../src", "leak => ../outside/secret")
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, "walker", r.Mode())
	_, err = r.ReadFile("leak")
	denied(t, err, pathresolver.RuleSymlinkEscape)
	denied(t, r.WriteFile("out/ld/x", nil, 0o644), pathresolver.RuleNoWritePath)
	require.NoError(t, r.WriteFile("out/x", []byte("x"), 0o644))
	got, err := r.ReadFile("src/x")
	require.NoError(t, err)
	require.Equal(t, "srcx", string(got))
	fmt.Println("walker verdicts hold")
}

// openFDs lists what this process holds open in temporary directories, and
// requires each to close on exec.
func openFDs(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || !strings.HasPrefix(target, os.TempDir()) {
			continue
		}
		var fd int
		_, err = fmt.Sscan(e.Name(), &fd)
		require.NoError(t, err)
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil {
			require.NotZero(t, flags&unix.FD_CLOEXEC, "%d -> %s stays open in children", fd, target)
		}
		list = append(list, e.Name()+" "+target)
	}
	return strings.Join(list, "\n")
}
