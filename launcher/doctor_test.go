//go:build linux

package launcher

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// doctor runs Probe in a process of its own as uid.
func doctor(t *testing.T, uid int, noLandlock bool, change func(*exec.Cmd)) map[string]Finding {
	t.Helper()
	cmd := supervisor(t, job{UID: uid, Doctor: true, NoLandlock: noLandlock})
	if change != nil {
		change(cmd)
	}
	out, err := cmd.Output()
	require.NoError(t, err)
	var findings []Finding
	require.NoError(t, json.Unmarshal(out, &findings))
	byName := map[string]Finding{}
	for _, f := range findings {
		byName[f.Name] = f
		assert.NotEmpty(t, f.Detail, f.Name)
		assert.NotEmpty(t, f.Means, f.Name)
		assert.Equal(t, f.OK, f.Fix == "", "%s: a fix where something is missing", f.Name)
	}
	return byName
}

func TestProbeFindsWhatWorks(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for name, f := range doctor(t, uid, false, nil) {
			assert.True(t, f.OK || !f.Required, "%s: %s", name, f.Detail)
		}
	})
}

// TestProbeOfTheServingProcess: whether it can confine itself is tried.
func TestProbeOfTheServingProcess(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for _, name := range []string{"landlock", "serving"} {
			with, without := doctor(t, uid, false, nil)[name], doctor(t, uid, true, nil)[name]
			assert.True(t, with.OK, "%s: %s", name, with.Detail)
			assert.False(t, without.OK || without.Required, "%s: %s", name, without.Detail)
		}
	})
}

// TestProbeTellsBounds: what a run may use up is told as it will be.
func TestProbeTellsBounds(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		found := doctor(t, uid, false, nil)
		assert.Equal(t, fmt.Sprintf("at most %d", tasks()), found["tasks"].Detail)
		root, _ := project(t, uid)
		got := run(t, job{UID: uid, Root: root, Command: []string{"sh", "-c", "cat /proc/sys/kernel/pid_max; echo $(($(stat -f -c '%b * %S' /tmp) >> 20))"}}, nil)
		lines := strings.Fields(got.out)
		require.Len(t, lines, 2, got.errOut)
		assert.Equal(t, "at most "+lines[0], found["tasks"].Detail)
		assert.Contains(t, found["temporary files"].Detail, "at most "+lines[1]+" MiB each in /tmp")
		assert.True(t, found["core dumps"].OK)
	})
}

func TestProbeFindsWhatIsMissing(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		if uid == 0 {
			return // root needs no user namespace
		}
		found := doctor(t, uid, false, func(cmd *exec.Cmd) {
			// A user namespace of its own whose limit of further ones is 0.
			cmd.Args = []string{"unshare", "-Ur", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all "$0" supervise "$1"`, cmd.Path, `{"Doctor":true}`}
			cmd.Path = "/usr/bin/unshare"
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		})
		assert.False(t, found["namespaces"].OK)
		assert.Equal(t, "sudo sysctl -w user.max_user_namespaces=15000", found["namespaces"].Paste)
	})
}
