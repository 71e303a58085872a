package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// attackLimit bounds one attack on a busy machine.
const attackLimit = time.Minute

// Attacks are programs that were found to get through, or nearly. This test
// binary plays them where it is started as "insider attack NAME".
func init() {
	if filepath.Base(os.Args[0]) == "insider" && len(os.Args) == 3 && os.Args[1] == "attack" {
		attacks[os.Args[2]]()
		os.Exit(0)
	}
}

// attack is one program, run in a project of its own: inside `pinfold run`
// nothing but what begins with "work" may change, outside something else does.
type attack struct {
	name   string
	policy []string
	files  map[string]string // to be made, directories too
	links  map[string]string // hard links to be made
}

func (a attack) run(t *testing.T) {
	for _, s := range surfaces {
		if run, ok := s.(runSurface); ok {
			t.Run(run.name, func(t *testing.T) {
				s := a.site(t, run.uid)
				before := outsideOf(s, "work")
				a.inside(t, s)
				require.Empty(t, before.Diff(outsideOf(s, "work")), "the attack got through")
				s = a.site(t, run.uid)
				before = outsideOf(s, "work")
				a.outside(t, s)
				require.NotEmpty(t, before.Diff(outsideOf(s, "work")), "the attack does nothing where nobody stops it")
			})
		}
	}
}

// site makes the project of an attack.
func (a attack) site(t *testing.T, uid int) *site {
	t.Helper()
	s := newSite(t, uid, true)
	for path, data := range a.files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(s.root, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(s.root, path), []byte(data), 0o644))
	}
	for from, to := range a.links {
		require.NoError(t, os.Link(filepath.Join(s.root, from), filepath.Join(s.root, to)))
	}
	s.own()
	return s
}

func (a attack) inside(t *testing.T, s *site) {
	t.Helper()
	runAttack(t, pinfoldRun(s, s.uid, modes[0], a.policy, insiderPath, "attack", a.name))
}

func (a attack) outside(t *testing.T, s *site) {
	t.Helper()
	cmd := asUser(s.uid, modes[0], insiderPath, "attack", a.name)
	cmd.Dir = s.root
	runAttack(t, cmd)
}

// runAttack runs an attack to its end, which it must reach.
func runAttack(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(attackLimit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	require.NoError(t, cmd.Wait(), "%s:\n%s", cmd, out.String())
}
