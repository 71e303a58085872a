//go:build linux

package launcher

import (
	"encoding/json"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// doctor runs Probe in a process of its own as uid.
func doctor(t *testing.T, uid int, change func(*exec.Cmd)) map[string]Finding {
	t.Helper()
	cmd := supervisor(t, job{UID: uid, Doctor: true})
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
		for name, f := range doctor(t, uid, nil) {
			assert.True(t, f.OK || !f.Required, "%s: %s", name, f.Detail)
		}
	})
}

func TestProbeFindsWhatIsMissing(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		if uid == 0 {
			return // root needs no user namespace
		}
		found := doctor(t, uid, func(cmd *exec.Cmd) {
			// A user namespace of its own whose limit of further ones is 0.
			cmd.Args = []string{"unshare", "-Ur", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all "$0" supervise "$1"`, cmd.Path, `{"Doctor":true}`}
			cmd.Path = "/usr/bin/unshare"
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		})
		assert.False(t, found["namespaces"].OK)
		assert.Contains(t, found["namespaces"].Fix, "max_user_namespaces")
	})
}
