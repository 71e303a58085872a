//go:build linux

package launcher

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// etcRun runs a script as root, on an /etc of its own of which change
// alters some files once the command runs.
func etcRun(t *testing.T, kind string, change func(etc string)) (out, errOut string) {
	t.Helper()
	root, _ := project(t, 0)
	require.NoError(t, os.Chmod(root+"/out", 0o777))
	cmd := supervisor(t, job{Root: root, Write: []string{"out"}, Etc: kind, Command: []string{"sh", "-c",
		"touch out/ready; while [ ! -e out/go ]; do :; done; cd /etc; cat shadow public private/key late 2>&1"}})
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	eventually(t, "the command runs", func() bool {
		_, err := os.Stat(root + "/out/ready")
		return err == nil || cmd.ProcessState != nil
	})
	change(fmt.Sprintf("/proc/%d/root/etc", cmd.Process.Pid))
	require.NoError(t, os.WriteFile(root+"/out/go", nil, 0o644))
	end(t, cmd)
	return o.String(), e.String()
}

// A command that keeps uid 0 reads in the system directories what
// everybody may read, and nothing more, also of what is made later.
func TestRootReadsWhatOthersMay(t *testing.T) {
	if os.Getuid() != 0 {
		got := run(t, job{UID: os.Getuid(), Root: t.TempDir(), Command: []string{"cat", "/etc/shadow"}}, nil)
		assert.Contains(t, got.errOut, "Permission denied")
		return
	}
	out, errOut := etcRun(t, "tmpfs", func(etc string) {
		require.NoError(t, os.WriteFile(etc+"/late", []byte("LATE"), 0o600))
		require.NoError(t, os.WriteFile(etc+"/shadow.new", []byte("NEW"), 0o640))
		require.NoError(t, os.Rename(etc+"/shadow.new", etc+"/shadow")) // as passwd(1) does
		data, err := os.ReadFile(etc + "/shadow")
		require.NoError(t, err)
		assert.Equal(t, "NEW", string(data), "unguarded, root reads it")
	})
	assert.Equal(t, "cat: shadow: Permission denied\nold public\ncat: private/key: Permission denied\ncat: late: Permission denied\n", out)
	assert.Empty(t, errOut, "nothing is lost")
}

// Where ids cannot be mapped, what there is is covered and the rest reported.
func TestSecretsAreCovered(t *testing.T) {
	if os.Getuid() != 0 {
		assert.Empty(t, run(t, job{UID: os.Getuid(), Root: t.TempDir(), Command: []string{"true"}}, nil).errOut)
		return
	}
	out, errOut := etcRun(t, "ramfs", func(etc string) {
		require.NoError(t, os.WriteFile(etc+"/late", []byte("LATE"), 0o644))
	})
	assert.Equal(t, "cat: shadow: Permission denied\nold public\ncat: private/key: Permission denied\nLATE", out)
	assert.Contains(t, errOut, "lost: /etc cannot be mounted with other ids")
}

// TestSystemDirectoryNamed: a system directory that --ro names is shown as it is
// without, and what root alone may read in it where that itself is named.
func TestSystemDirectoryNamed(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		show := func(ro ...string) outcome {
			return run(t, job{UID: uid, Root: root, RO: ro, Command: []string{"sh", "-c", "ls -d /usr/bin /etc/passwd; cat /etc/shadow > /dev/null"}}, nil)
		}
		for _, ro := range [][]string{nil, {"/usr"}, {"/etc"}, {"/usr", "/etc"}} {
			got := show(ro...)
			assert.Equal(t, "/etc/passwd\n/usr/bin\n", got.out, "%v: %s", ro, got.errOut)
			assert.Contains(t, got.errOut, "Permission denied", ro)
		}
		if uid == 0 {
			got := show("/etc", "/etc/shadow")
			assert.Equal(t, 0, got.code, got.errOut)
		}
	})
}
