package sqlitestore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/storetest"
)

// fullDisk names the directory over which TestFullDisk mounts its small disk,
// in a process that is in namespaces of its own.
const fullDisk = "PINFOLD_TEST_FULL_DISK"

// TestFullDisk: on a full disk an update is refused with the reason, nothing
// that was acknowledged is lost, and service returns when space does.
func TestFullDisk(t *testing.T) {
	dir := os.Getenv(fullDisk)
	if dir == "" {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), fullDisk+"="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestFullDisk")
		return
	}
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"))
	path := filepath.Join(dir, "broker.db")
	storetest.TestFull(t, func(t *testing.T) broker.Store { return open(t, path) }, dir)
}
