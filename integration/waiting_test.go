package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waitingLimit bounds what must happen, on a busy machine.
const waitingLimit = 2 * time.Minute

// D40: while a hundred opens wait for the operator, everything else in the same
// directories goes on. Each is answered from another process, and then lands.
func TestHundredOpensWait(t *testing.T) {
	for _, surface := range surfaces {
		if run, ok := surface.(runSurface); ok {
			t.Run(run.name, func(t *testing.T) {
				t.Run("asked", func(t *testing.T) { hundredWait(t, run.uid) })
				t.Run("free", func(t *testing.T) {
					s := hundredFiles(t, run.uid)
					hundredGo(t, s)
					runAttack(t, pinfoldRun(s, s.uid, modes[0], []string{"-w", "src"}, insiderPath, "attack", "hundred"))
					hundredLanded(t, s)
				})
			})
		}
	}
}

func hundredWait(t *testing.T, uid int) {
	s := hundredFiles(t, uid)
	state, err := os.MkdirTemp("/tmp", "pf") // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(state)) })
	require.NoError(t, os.Chown(state, uid, uid))
	policy := filepath.Join(s.base, "policy.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("version: 1\nextends: sandboxed\n"+
		"fs: {write: [src], ask_write: ['src/*/secret*']}\napprovals: {fuse_wait: 1h}\n"), 0o644))
	with := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
		return cmd
	}
	var said strings.Builder
	inside := with(pinfoldRun(s, uid, modes[0], []string{"--policy", policy}, insiderPath, "attack", "hundred"))
	inside.Stdout, inside.Stderr = &said, &said
	require.NoError(t, inside.Start())
	ended := make(chan error, 1)
	go func() { ended <- inside.Wait() }()
	late := time.AfterFunc(5*waitingLimit, func() { _ = inside.Process.Kill() })
	defer late.Stop()

	var requests struct {
		Items []struct{ ID, Resource string }
	}
	require.Eventually(t, func() bool {
		out, err := with(asUser(uid, modes[0], pinfold, "requests", "--json")).Output()
		return err == nil && json.Unmarshal(out, &requests) == nil && len(requests.Items) == 100
	}, waitingLimit, 100*time.Millisecond, "a hundred requests")
	for i := range 100 {
		data, err := os.ReadFile(filepath.Join(s.root, secretFile(i)))
		require.NoError(t, err)
		require.Equal(t, "old", string(data), "nothing is touched before it is approved")
	}
	hundredGo(t, s)
	took := filepath.Join(s.root, "src/took")
	require.Eventually(t, func() bool { data, err := os.ReadFile(took); return err == nil && len(data) > 0 }, waitingLimit, 20*time.Millisecond, "nothing goes on")
	data, err := os.ReadFile(took)
	require.NoError(t, err)
	t.Logf("an operation beside 100 opens that wait: %s", data)
	for _, r := range requests.Items {
		out, err := with(asUser(uid, modes[0], pinfold, "approve", r.ID)).CombinedOutput()
		require.NoError(t, err, "%s: %s", r.Resource, out)
	}
	require.NoError(t, <-ended, said.String())
	hundredLanded(t, s)
}

// hundredFiles are the files, as they were.
func hundredFiles(t *testing.T, uid int) *site {
	s := newSite(t, uid, true)
	for i := range 100 {
		path := filepath.Join(s.root, secretFile(i))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	}
	s.own()
	return s
}

// hundredGo has the program inside go on.
func hundredGo(t *testing.T, s *site) {
	require.NoError(t, os.WriteFile(filepath.Join(s.root, "src/go"), nil, 0o644))
}

func hundredLanded(t *testing.T, s *site) {
	for i := range 100 {
		data, err := os.ReadFile(filepath.Join(s.root, secretFile(i)))
		require.NoError(t, err)
		require.Equal(t, "new", string(data))
	}
}
