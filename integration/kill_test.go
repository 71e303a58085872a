package integration

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/insider"
)

const (
	kills     = 25                     // for each user
	killLimit = 400 * time.Millisecond // the random moment lies within
	goneLimit = time.Minute            // when everything must have vanished
)

// TestKill kills the supervisor of `pinfold run` with SIGKILL at random
// moments of a parallel workload: no process, mount or file stays, nothing
// outside the write path has changed, and what was finished is whole.
func TestKill(t *testing.T) {
	for _, s := range surfaces {
		if run, ok := s.(runSurface); ok {
			t.Run(run.name, func(t *testing.T) { killMany(t, run) })
		}
	}
}

func killMany(t *testing.T, run runSurface) {
	s := newSite(t, run.uid, true)
	for path, data := range map[string]string{"ro/f": "f", "work/old": "old", "../outside/f": "f"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(s.root, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(s.root, path), []byte(data), 0o644))
	}
	s.own()
	temp, before := litter(t), outsideOf(s, "work/w")
	whole := 0
	for i := range kills {
		killOnce(t, run, s, time.Duration(rand.Int64N(int64(killLimit))))
		require.Equal(t, before, outsideOf(s, "work/w"), "kill %d changed something", i)
		require.Equal(t, temp, litter(t), "kill %d left something", i)
		whole += wholeFiles(t, s)
	}
	require.NotZero(t, whole)
	fmt.Printf("[table] kill -9 of %s: %d times, %d finished files whole, nothing left\n", run.name, kills, whole)
}

// killOnce starts the workload, kills the supervisor after a while, and waits
// until everything is gone.
func killOnce(t *testing.T, run runSurface, s *site, after time.Duration) {
	cmd := pinfoldRun(s, run.uid, modes[0], []string{"-w", "work"}, insiderPath, "churn", "work")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr lockedText
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, stderr.String())
	require.Equal(t, "ready\n", line)
	require.Greater(t, len(processes(t)), insider.Writers, "the processes are not seen")
	<-time.After(after) // the random moment
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.Eventually(t, func() bool { return len(processes(t)) == 0 }, goneLimit, 5*time.Millisecond, "left: %v", processes(t))
	require.Empty(t, mountsBeneath(t, s.base))
}

// processes are those that run a program of the tests, but for this one.
func processes(t *testing.T) (found []string) {
	t.Helper()
	exes, err := filepath.Glob("/proc/[0-9]*/exe")
	require.NoError(t, err)
	for _, exe := range exes {
		// A zombie has no exe; one that just ended has no entry.
		if target, err := os.Readlink(exe); err == nil && strings.HasPrefix(target, bin+"/") {
			found = append(found, exe+" "+target)
		}
	}
	return found
}

// mountsBeneath are the mount points of this namespace beneath dir.
func mountsBeneath(t *testing.T, dir string) (found []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); strings.HasPrefix(fields[4], dir+"/") {
			found = append(found, fields[4])
		}
	}
	return found
}

// litter are the names in the places where a program could leave something.
func litter(t *testing.T) (names []string) {
	t.Helper()
	for _, dir := range []string{arena, "/run", "/dev/shm", "/var/tmp"} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "Test") || strings.HasPrefix(e.Name(), "PostgreSQL.") {
				continue // another package's test, at this time: its directory, or its initdb's shared memory
			}
			names = append(names, dir+"/"+e.Name())
		}
	}
	return names
}

// outsideOf is the ground truth without what begins with prefix.
func outsideOf(s *site, prefix string) cases.Snapshot {
	snap := s.snapshot()
	for p := range snap {
		if strings.HasPrefix(p, prefix) {
			delete(snap, p)
		}
	}
	return snap
}

// wholeFiles counts the finished files, all of which must be whole.
func wholeFiles(t *testing.T, s *site) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.root, "work", "w*/done-*"))
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		require.True(t, insider.IsWhole(data), "%s is torn", f)
	}
	require.False(t, insider.IsWhole([]byte("torn")))
	return len(files)
}
