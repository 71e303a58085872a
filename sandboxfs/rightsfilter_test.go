//go:build linux

package sandboxfs_test

import (
	"context"
	"os/exec"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// Where capabilities cannot be given up an unprivileged view is refused. One
// that tried again at each request would never answer.
func TestUnprivilegedFiltered(t *testing.T) {
	v, err := newUnprivileged(t.TempDir())
	require.NoError(t, err, "without a filter")
	require.NoError(t, v.Close())

	ctx, stop := context.WithTimeout(t.Context(), 2*bound)
	defer stop()
	prepared := inChild("no-capset", t.TempDir())
	child := exec.CommandContext(ctx, prepared.Path, prepared.Args[1:]...)
	out, err := child.CombinedOutput()
	require.NoError(t, ctx.Err(), "hangs")
	require.Error(t, err)
	require.Contains(t, string(out), "option Unprivileged: give up capabilities: operation not permitted")
}

func newUnprivileged(root string) (*sandboxfs.View, error) {
	r, err := pathresolver.New(pathresolver.Config{Root: root})
	if err != nil {
		return nil, err
	}
	return sandboxfs.New(r, sandboxfs.Options{Unprivileged: true})
}

// viewWithoutCapset forbids all threads capset(2), as a container may, and
// mounts a view.
func viewWithoutCapset(root string) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CAPSET, Jf: 1},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); e != 0 {
		return e
	}
	v, err := newUnprivileged(root)
	if err != nil {
		return err
	}
	return v.Close()
}
