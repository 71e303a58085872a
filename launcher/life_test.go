//go:build linux

package launcher

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// started is a supervisor whose command has made root/out/ready.
func started(t testing.TB, j job) *exec.Cmd {
	t.Helper()
	cmd := supervisor(t, j)
	cmd.SysProcAttr.Setpgid = true
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "the command runs", func() bool {
		_, err := os.Stat(filepath.Join(j.Root, "out", "ready"))
		return err == nil
	})
	return cmd
}

// family lists a process's descendants.
func family(pid int) (pids []int) {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, f := range tasks {
		data, _ := os.ReadFile(f)
		for field := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(append(pids, child), family(child)...)
			}
		}
	}
	return pids
}

// alive reports whether a process is there and not only waiting to be reaped.
func alive(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func noneAlive(pids []int) bool {
	for _, p := range pids {
		if alive(p) {
			return false
		}
	}
	return true
}

// mounts lists the mounts of this package's projects that the host can see;
// other packages are tested at the same time.
func mounts(t testing.TB) (list []string) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(data), "\n") {
		if strings.Contains(line, "pinfold-project-") {
			list = append(list, line)
		}
	}
	return list
}

const busy = "touch out/ready; i=0; while :; do i=$((i+1)); echo $i > out/f; cat ok.txt out/f > /tmp/x; rm out/f; done"

// rounds is few in an ordinary run and many with PINFOLD_LONG=1.
func rounds(few, many int) int {
	if os.Getenv("PINFOLD_LONG") != "" {
		return many
	}
	return few
}

func TestSignalsArePassedOn(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for sig, want := range map[unix.Signal]int{unix.SIGTERM: 143, unix.SIGINT: 130, unix.SIGHUP: 129, unix.SIGQUIT: 131, unix.SIGUSR1: 138} {
			root, _ := project(t, uid)
			cmd := started(t, job{UID: uid, Root: root, Write: []string{"out"}, Command: []string{"sh", "-c", "touch out/ready; exec sleep 1000"}})
			require.NoError(t, cmd.Process.Signal(sig))
			end(t, cmd)
			assert.Equal(t, want, cmd.ProcessState.ExitCode(), sig)
		}
		// The command decides what a signal means.
		root, _ := project(t, uid)
		cmd := started(t, job{UID: uid, Root: root, Write: []string{"out"},
			Command: []string{"sh", "-c", "trap 'exit 5' TERM; touch out/ready; while :; do :; done"}})
		require.NoError(t, cmd.Process.Signal(unix.SIGTERM))
		end(t, cmd)
		assert.Equal(t, 5, cmd.ProcessState.ExitCode())
	})
}

// The supervisor is killed at a random moment of a busy run.
func TestKilledSupervisorLeavesNothing(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for range rounds(10, 50) {
			root, _ := project(t, uid)
			cmd := started(t, job{UID: uid, Root: root, Write: []string{"out"},
				Command: []string{"sh", "-c", busy + " & " + busy}})
			moment := time.NewTimer(rand.N(30 * time.Millisecond))
			<-moment.C
			pids := family(cmd.Process.Pid)
			require.NotEmpty(t, pids)
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			eventually(t, "all processes are gone", func() bool { return noneAlive(pids) })
		}
		assert.Empty(t, mounts(t))
	})
}

// The supervisor hangs, while processes wait for an answer.
func TestHungSupervisorIsEnded(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		cmd := started(t, job{UID: uid, Root: root, Write: []string{"out"}, Hang: 3 * time.Second,
			Command: []string{"sh", "-c", busy + " & " + busy}})
		hang(t, cmd)
	})
}

// hang has a supervisor hang, which ends everything inside meanwhile.
func hang(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	pids := family(cmd.Process.Pid)
	require.NotEmpty(t, pids)
	require.NoError(t, cmd.Process.Signal(unix.SIGSTOP))
	eventually(t, "all processes are gone though the supervisor still hangs", func() bool { return noneAlive(pids) })
	require.NoError(t, cmd.Process.Signal(unix.SIGCONT))
	end(t, cmd)
	assert.Equal(t, 137, cmd.ProcessState.ExitCode())
}

// A supervisor that is stopped and continues in time is not ended.
func TestShortSilenceIsForgiven(t *testing.T) {
	root, _ := project(t, os.Getuid())
	cmd := started(t, job{UID: os.Getuid(), Root: root, Write: []string{"out"}, Hang: deadline,
		Command: []string{"sh", "-c", "touch out/ready; while [ ! -e out/go ]; do :; done; exit 6"}})
	require.NoError(t, cmd.Process.Signal(unix.SIGSTOP))
	require.NoError(t, os.WriteFile(root+"/out/go", nil, 0o644))
	require.NoError(t, cmd.Process.Signal(unix.SIGCONT))
	end(t, cmd)
	assert.Equal(t, 6, cmd.ProcessState.ExitCode())
}

// The command cannot end the run by signalling its parents, with any signal there is,
// and gets none of them ignored or blocked. Other processes inside are ended by them.
func TestInitSurvivesItsChildren(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		got := run(t, job{UID: uid, Root: root, Command: []string{"sh", "-c",
			"grep -E '^Sig(Ign|Blk)' /proc/self/status; s=1; while [ $s -le 64 ]; do kill -$s 1; s=$((s+1)); done;" +
				"cat ok.txt; for s in 10 11 64; do sh -c \"kill -$s \\$\\$\"; echo $?; done; exit 3"}}, nil)
		assert.Equal(t, 3, got.code, got.errOut)
		none := ":\t" + strings.Repeat("0", 16) + "\n"
		assert.Equal(t, "SigBlk"+none+"SigIgn"+none+"ok\n138\n139\n192\n", got.out)
	})
}

// What the command uses up is its own; others' views are unaffected.
func TestGreedyCommandHurtsOnlyItself(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		other, _ := project(t, uid)
		bystander := started(t, job{UID: uid, Root: other, Write: []string{"out"},
			Command: []string{"sh", "-c", "touch out/ready; while [ ! -e out/go ]; do :; done; cat ok.txt > out/copy"}})

		n := rounds(200, 1000)
		got := run(t, job{UID: uid, Root: root, Write: []string{"out"}, Command: []string{"sh", "-c",
			"i=0; while [ $i -lt " + strconv.Itoa(n) + " ]; do i=$((i+1)); (echo $i > out/f$i) & done; wait; ls out | wc -l"}}, nil)
		assert.Equal(t, strconv.Itoa(n), strings.TrimSpace(got.out), got.errOut)
		require.NoError(t, os.WriteFile(root+"/out/many", nil, 0o666))
		for _, file := range []string{"ok.txt", "out/many"} {
			got = run(t, job{UID: uid, Root: root, Write: []string{"out"}, Command: []string{insideProbe, "probe", "open-many", file, "10000"}}, nil)
			assert.True(t, got.code == 0 || strings.Contains(got.out, "too many open files"), "%s: %s %s", file, got.out, got.errOut)
		}
		require.NoError(t, os.WriteFile(other+"/out/go", nil, 0o644))
		end(t, bystander)
		assert.Zero(t, bystander.ProcessState.ExitCode())
		assert.FileExists(t, other+"/out/copy")
	})
}
