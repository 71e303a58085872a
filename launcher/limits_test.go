//go:build linux

package launcher

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The time of a run holds whatever is inside does: it is stopped, ignores signals, makes as
// many processes as it can, or has left something in the background.
func TestTime(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for name, do := range map[string]string{
			"endless":    "while :; do :; done",
			"deaf":       "trap '' TERM INT HUP; while :; do :; done",
			"stopped":    "trap '' TERM; kill -STOP 0; while :; do :; done",
			"storm":      "trap '' TERM; f() { f | f & }; f 2>/dev/null; while :; do :; done",
			"background": "sleep 1000 & exit 3",
			"polite":     "trap 'exit 0' TERM; while :; do :; done",
		} {
			root, _ := project(t, uid)
			got := run(t, job{UID: uid, Root: root, Time: 100 * time.Millisecond, Grace: time.Millisecond, Tasks: 400, Background: true, Command: []string{"bash", "-c", do}}, nil)
			assert.Equal(t, ExitTime, got.code, "%s: %s", name, got.errOut)
			assert.Contains(t, got.errOut, "ended after 100ms: --time 100ms", name)
		}
		root, _ := project(t, uid)
		got := run(t, job{UID: uid, Root: root, Time: deadline, Command: []string{"sh", "-c", "exit 3"}}, nil)
		assert.Equal(t, outcome{3, "", ""}, got, "it has time enough")
	})
}

// It holds also while the supervisor is stopped.
func TestTimeWithoutSupervisor(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		cmd := started(t, job{UID: uid, Root: root, Write: []string{"out"}, Hang: 10 * deadline, Time: time.Second, Grace: time.Millisecond,
			Command: []string{"sh", "-c", "trap '' TERM; " + busy}})
		pids := family(cmd.Process.Pid)
		require.NotEmpty(t, pids)
		require.NoError(t, cmd.Process.Signal(unix.SIGSTOP))
		eventually(t, "all processes are gone though the supervisor is stopped", func() bool { return noneAlive(pids) })
		require.NoError(t, cmd.Process.Signal(unix.SIGCONT))
		end(t, cmd)
		assert.Equal(t, ExitTime, cmd.ProcessState.ExitCode())
	})
}

// A bound that cannot be had is refused, not ignored: control groups are not everywhere.
func TestBoundsOfAGroup(t *testing.T) {
	const hog, refused = "head -c 150m /dev/zero | tail -c 150m | wc -c", "no control group can be had"
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		got := run(t, job{UID: uid, Root: root, Memory: 100 << 20, Command: []string{"sh", "-c", hog}}, nil)
		if got.code == ExitSetup {
			assert.Contains(t, got.errOut, refused)
			assert.Contains(t, got.errOut, "systemd-run")
		} else {
			assert.Equal(t, 137, got.code, got.errOut)
			assert.Contains(t, got.errOut, "it took more memory than --memory 100M")
		}
		assert.Empty(t, got.out)
		got = run(t, job{UID: uid, Root: root, Command: []string{"sh", "-c", hog}}, nil)
		assert.Equal(t, outcome{0, "157286400\n", ""}, got, "without the bound")

		for _, j := range []job{{CPU: 0.5}, {Tasks: leastTaskBound - 1}} {
			j.UID, j.Root, j.Command = uid, root, []string{"echo", "ran"}
			if got := run(t, j, nil); got.code != 0 {
				assert.Equal(t, ExitSetup, got.code)
				assert.Empty(t, got.out)
				assert.Contains(t, got.errOut, refused)
			}
		}
		got = run(t, job{UID: uid, Root: root, Tasks: leastTaskBound, Command: []string{"true"}}, nil)
		assert.Equal(t, outcome{0, "", ""}, got, "the process namespace has this bound")
		got = run(t, job{UID: uid, Root: root, Memory: leastMemory - 1, Command: []string{"true"}}, nil)
		assert.Equal(t, ExitSetup, got.code)
		assert.Contains(t, got.errOut, "64M at least")
	})
}
