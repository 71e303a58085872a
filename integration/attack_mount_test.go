package integration

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A procfs mounted beneath a write path (a tree for chroot has one) was served
// like files: writing one of them changed the host's kernel. Only root can
// mount, so only root has the case.
func TestAttackKernelFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	root := t.TempDir()
	proc := filepath.Join(root, "tree/proc")
	require.NoError(t, os.MkdirAll(proc, 0o755))
	require.NoError(t, unix.Mount("proc", proc, "proc", 0, ""))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(proc, unix.MNT_DETACH)) })

	// The name of this very thread is something that may be changed.
	comm := filepath.Join("tree/proc", strconv.Itoa(os.Getpid()), "comm")
	was, err := os.ReadFile(filepath.Join(root, comm))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, comm), was, 0o644), "without the guard it works")

	for _, walker := range []bool{false, true} {
		r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, ForceWalker: walker})
		require.NoError(t, err)
		require.Equal(t, access.Code("mount_refused"), r.Warnings()[0].Code)
		var denied *pathresolver.DeniedError
		_, err = r.ReadFile(comm)
		require.ErrorAs(t, err, &denied)
		require.Equal(t, pathresolver.RuleMountPoint, denied.Rule)
		require.ErrorAs(t, r.WriteFile(comm, was, 0o644), &denied)
		require.Equal(t, pathresolver.RuleMountPoint, denied.Rule)
		require.NoError(t, r.WriteFile("tree/file", nil, 0o644))
		require.NoError(t, r.Close())
	}
}
