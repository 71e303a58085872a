package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/cases"
)

// workloads are scripts in testdata/work with the policy each runs under.
// They work on what setup.sh makes: in/ to read, work/ to write, and a
// repository around both.
var workloads = map[string][]string{
	"git":      {"-w", "work"},
	"git-here": {"-w", "work", "--git"},
	"go":       {"-w", "work"},
	"npm":      {"-w", "work"},
	"tar":      {"-w", "work"},
	"sed":      {"-w", "work"},
	"rsync":    {"-w", "work"},
	"sqlite":   {"-w", "work"},
	"vim":      {"-w", "work"},
}

// workLimit bounds one workload on a busy machine.
const workLimit = 5 * time.Minute

// TestWorkloads runs real tools inside `pinfold run` and compares what they
// leave with what they leave outside, at the same place.
func TestWorkloads(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			for _, name := range sorted(workloads) {
				t.Run(name, func(t *testing.T) {
					w := newWorkshop(t, run.uid, name)
					if name == "go" && goCache == "" {
						home := w.home()
						w.work(w.outside("script.sh", home))
						goCache = keep(t, home)
					}
					flags := append(workloads[name], w.env()...)
					flags = append(flags, "--home", w.home())
					inside := w.work(pinfoldRun(w.site, run.uid, modes[0], flags, "sh", "-eu", "script.sh"))
					outside := w.work(w.outside("script.sh", w.home()))
					require.Greater(t, len(outside), 40)
					require.Equal(t, outside, inside, "%s inside differs from outside", name)
				})
			}
		})
	}
}

// workshop is one project on which a workload is done several times.
type workshop struct {
	*site
	name   string
	script []byte
}

// goCache is a build cache in which what the workload "go" needs of the
// standard library was built once, outside.
var goCache string

func newWorkshop(t *testing.T, uid int, name string) *workshop {
	script, err := os.ReadFile("testdata/work/" + name + ".sh")
	require.NoError(t, err)
	return &workshop{site: newSite(t, uid, true), name: name, script: script}
}

// env are the variables of a workload, which fix names and times.
func (w *workshop) env() []string {
	var flags []string
	for _, v := range workEnv {
		flags = append(flags, "--env", v)
	}
	return flags
}

// home is a new home directory.
func (w *workshop) home() string {
	w.t.Helper()
	dir := tempDir(w.t, w.uid)
	if w.name == "go" && goCache != "" {
		runToEnd(w.t, exec.Command("cp", "-r", goCache, dir))
		runToEnd(w.t, exec.Command("chown", "-R", fmt.Sprintf("%d:%d", w.uid, w.uid), dir))
	}
	return dir
}

var workEnv = []string{
	"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2020-02-02T02:02:02Z",
	"GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.com", "GIT_COMMITTER_DATE=2020-02-02T02:02:02Z",
	"GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH"),
}

// outside is a command that runs a script of the project as it is.
func (w *workshop) outside(script, home string) *exec.Cmd {
	cmd := exec.Command("sh", "-eu", script)
	cmd.Dir = w.root
	cmd.Env = append([]string{"HOME=" + home}, workEnv...)
	cmd.SysProcAttr = credential(w.uid)
	return cmd
}

// keep moves the build cache out of a home directory that will be removed.
func keep(t *testing.T, home string) string {
	t.Helper()
	to := filepath.Join(arena, "gocache")
	require.NoError(t, os.Rename(home+"/gocache", to))
	return to
}

// work makes the project anew, runs cmd, and returns what is there then.
func (w *workshop) work(cmd *exec.Cmd) cases.Snapshot {
	w.t.Helper()
	require.NoError(w.t, os.RemoveAll(w.root))
	require.NoError(w.t, os.Mkdir(w.root, 0o755))
	setup, err := os.ReadFile("testdata/work/setup.sh")
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(w.root+"/setup.sh", setup, 0o644))
	require.NoError(w.t, os.WriteFile(w.root+"/script.sh", w.script, 0o644))
	w.own()
	runToEnd(w.t, w.outside("setup.sh", tempDir(w.t, w.uid)))
	runToEnd(w.t, cmd)
	after, err := cases.Contents(w.root, incidental)
	require.NoError(w.t, err)
	return after
}

// incidental are files that hold times, inode numbers or the order of things:
// git's index, whose entries the scripts list instead, and what gc packs by
// several threads.
func incidental(rel string) bool {
	return filepath.Base(rel) == "index" || strings.HasPrefix(filepath.Base(rel), "pack-") ||
		strings.HasSuffix(rel, ".git/objects/info/commit-graph") || strings.HasSuffix(rel, "gc.pid")
}

func runToEnd(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(workLimit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	require.NoError(t, cmd.Wait(), "%s:\n%s", cmd, out.String())
}

// TestWorkloadsCanFail shows that the comparison sees a difference, and that
// it is the write path that lets the work be done.
func TestWorkloadsCanFail(t *testing.T) {
	w := newWorkshop(t, os.Geteuid(), "sed")
	outside := w.work(w.outside("script.sh", w.home()))
	require.NoError(t, os.WriteFile(filepath.Join(w.root, "work", "d.sh"), []byte("torn"), 0o644))
	changed, err := cases.Contents(w.root, incidental)
	require.NoError(t, err)
	require.NotEqual(t, outside, changed)

	out, err := pinfoldRun(w.site, w.uid, "openat2", w.env(), "sh", "-eu", "script.sh").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "Read-only file system")
}
