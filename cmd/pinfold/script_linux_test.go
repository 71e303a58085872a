package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/mount"
)

// TestScripts runs the sessions of testdata/script as the user who runs the
// test.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         t.TempDir(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, cli.UnknownWord("condition", cond, "root")
		},
		Setup: func(env *testscript.Env) error {
			// What a person's shell has, and the sessions do not.
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "dumb")
			env.Defer(func() { unmountAll(t, env.WorkDir) })
			return nil
		},
	})
}

// unmountAll takes away what a session that failed left mounted.
func unmountAll(t *testing.T, dir string) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if at := fields[4]; strings.HasPrefix(at, dir+"/") {
			_, err := mount.UnmountOne(at, false)
			t.Errorf("%s was left mounted (unmounting it: %v)", at, err)
		}
	}
}

// nobody is the unprivileged user of the sessions' second run.
const nobody = 65534

// TestScriptsUnprivileged runs the same sessions as an ordinary user, where
// the first run was root's.
func TestScriptsUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		return // TestScripts was that run
	}
	dir := openDir(t)
	// The source tree may lie where only root may look.
	require.NoError(t, os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata")))
	binary := filepath.Join(dir, "pinfold.test")
	copySelf(t, binary)
	tmp := filepath.Join(dir, "tmp")
	require.NoError(t, os.Mkdir(tmp, 0o700))
	require.NoError(t, os.Chown(tmp, nobody, nobody))

	// /dev/fuse is open to everybody on most systems. Where it is not, the run
	// gets one that is, in a mount namespace of its own.
	const asNobody = `set -e
		mknod "$1/fuse" c 10 229; chmod 666 "$1/fuse"; mount --bind "$1/fuse" /dev/fuse
		cd "$1"; shift; exec setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"`
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private",
		"sh", "-c", asNobody, "sh", dir, binary, "-test.run=^TestScripts$")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+tmp)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "no tests to run")
}

// openDir is a temporary directory that every user can enter.
func openDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "pinfold-cmd-test-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// copySelf copies the program that runs: this test, which is pinfold where it
// is called so.
func copySelf(t *testing.T, to string) {
	exe, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, exe, 0o755))
}
