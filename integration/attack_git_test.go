package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAttackGit: after the run the operator says `git status` in the project,
// as ever. No program of the agent's may run then.
func TestAttackGit(t *testing.T) {
	for _, a := range []attack{
		{name: "submodule", policy: []string{"-w", "work"}, files: map[string]string{"work/sub/f": ""}},
		{name: "bare", policy: []string{"-w", "."}, files: map[string]string{"f": ""}},
	} {
		for _, s := range surfaces {
			if run, ok := s.(runSurface); ok {
				t.Run(a.name+"/"+run.name, func(t *testing.T) {
					project := func() *site {
						s := a.site(t, run.uid)
						if a.name == "submodule" {
							addSubmodule(t, s, "work/sub")
						}
						return s
					}
					s := project()
					a.inside(t, s)
					require.False(t, ranAtStatus(t, s), "git status ran the agent's program")
					s = project()
					a.outside(t, s)
					require.True(t, ranAtStatus(t, s), "git status would not have run it anyway")
				})
			}
		}
	}
}

// addSubmodule makes a directory of the project a submodule, as
// git-submodule(1) leaves one: its repository lies in the project's.
func addSubmodule(t *testing.T, s *site, dir string) {
	t.Helper()
	gitIn(t, s, s.root, "init", "-q")
	module := s.root + "/.git/modules/" + dir
	require.NoError(t, os.MkdirAll(filepath.Dir(module), 0o755))
	s.own()
	gitIn(t, s, s.root, "init", "-q", "--separate-git-dir", module, dir)
	gitIn(t, s, s.root+"/"+dir, "commit", "-q", "--allow-empty", "-m", "first")
	head := gitIn(t, s, s.root+"/"+dir, "rev-parse", "HEAD")
	gitIn(t, s, s.root, "update-index", "--add", "--cacheinfo", "160000,"+head+","+dir)
	gitIn(t, s, s.root, "config", "-f", ".gitmodules", "submodule."+dir+".path", dir)
}

// ranAtStatus reports whether git status runs what the attacks plant.
func ranAtStatus(t *testing.T, s *site) bool {
	t.Helper()
	cmd := gitCommand(t, s, s.root, "--no-optional-locks", "status")
	out, err := cmd.CombinedOutput()
	t.Logf("git status: %v\n%s", err, out) // in a directory that is no repository it fails
	for _, ran := range []string{s.root + "/ran", s.base + "/ran"} {
		if _, err := os.Stat(ran); err == nil {
			return true
		}
	}
	return false
}

func gitIn(t *testing.T, s *site, dir string, args ...string) string {
	t.Helper()
	cmd := gitCommand(t, s, dir, args...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", cmd, out)
	return strings.TrimSpace(string(out))
}

// gitCommand is git as the operator has it, without a configuration.
func gitCommand(t *testing.T, s *site, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + tempDir(t, s.uid)}, workEnv...)
	cmd.SysProcAttr = credential(s.uid)
	return cmd
}
