package pgstore_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/broker/storetest"
	"github.com/pinfold-dev/pinfold/internal/pgtest"
)

// fullDisk names the directory over which TestFullDisk mounts the small disk
// that its server is on, in a process that is in namespaces of its own.
const fullDisk = "PINFOLD_TEST_FULL_DISK"

// TestFullDisk: while the server's disk is full an update is refused with the
// reason, nothing that was acknowledged is lost, and service returns when space
// does, without the server or the broker being started again.
func TestFullDisk(t *testing.T) {
	dir := os.Getenv(fullDisk)
	if dir == "" {
		dir, err := os.MkdirTemp("/tmp", "pf") // short: the server's socket is beneath it
		require.NoError(t, err)
		defer func() { require.NoError(t, os.Remove(dir)) }()
		// PostgreSQL refuses root, also a namespace's, and wants a user who has a
		// name: it is to be nobody, with just the right to mount.
		const nobody = 65534
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), fullDisk+"="+dir, "TMPDIR="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestFullDisk")
		return
	}
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=96m"))
	storetest.TestFull(t, opener(pgtest.Database(t)), dir)
}
