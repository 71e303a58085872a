package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// planted makes a program by this name in the project's bin, where an agent with
// that write path could have left it. It says outside that it ran.
func planted(t *testing.T, s *site, name string) (ran string) {
	t.Helper()
	ran = s.vars["OUTSIDE"] + "/ran-" + name
	script := fmt.Sprintf("#!/bin/sh\necho >%s\n", ran)
	require.NoError(t, os.MkdirAll(s.root+"/bin", 0o755))
	require.NoError(t, os.MkdirAll(s.vars["OUTSIDE"], 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(s.root, "bin", name), []byte(script), 0o755))
	s.own()
	return ran
}

// TestAttackHelpers: the operator's PATH begins with directories that an agent
// may write. What pinfold starts for itself is found elsewhere.
func TestAttackHelpers(t *testing.T) {
	const policy = "version: 1\nextends: sandboxed\nfs: {write: [bin], ask_write: [src]}\napprovals: {fuse_wait: 1h}\n"
	for _, surface := range surfaces {
		run, ok := surface.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			for _, c := range []struct{ name, program, script string }{
				{"shell", "sh", `%[1]s run -C . --policy %[2]s --approve exec:true -- /bin/sh -c 'echo >src/f'`},
				{"mount", "fusermount3", `%[1]s mount -C . %[3]s && %[1]s unmount %[3]s`},
			} {
				t.Run(c.name, func(t *testing.T) {
					s := newSite(t, run.uid, true)
					ran := planted(t, s, c.program)
					at, file := s.base+"/at", s.base+"/policy.yaml"
					require.NoError(t, os.MkdirAll(s.root+"/src", 0o755))
					require.NoError(t, os.Mkdir(at, 0o755))
					require.NoError(t, os.WriteFile(s.root+"/src/f", nil, 0o644))
					require.NoError(t, os.WriteFile(file, []byte(policy), 0o644))
					s.own()
					env := append(os.Environ(), "XDG_STATE_HOME="+s.base+"/state",
						"PATH=.:"+s.root+"/bin:"+os.Getenv("PATH"))
					cmd := asUser(run.uid, modes[0], "/bin/sh", "-c", fmt.Sprintf(c.script, pinfold, file, at))
					cmd.Dir, cmd.Env = s.root, env
					runAttack(t, cmd)
					require.NoFileExists(t, ran, "the planted program was started")

					cmd = asUser(run.uid, modes[0], "/bin/sh", "-c", c.program)
					cmd.Dir, cmd.Env = s.root, env
					runAttack(t, cmd)
					require.FileExists(t, ran, "PATH does not lead to it: nothing was shown")
				})
			}
			if !t.Failed() {
				tableRow(t, "helper", run.name)
				tableRow(t, "helper", surfaceOf("mount", run.uid))
			}
		})
	}
}
