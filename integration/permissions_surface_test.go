package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// grantSurface is a surface that is started by the flags of a policy.
type grantSurface struct {
	name string
	// start starts it; the error is the policy's refusal.
	start func(t *testing.T, at *site, flags []string) (grant, error)
	// unguarded does the same without any rule.
	unguarded func(t *testing.T, at *site) grant
}

// grantSurfaces are those that who runs can have: only root mounts here.
func grantSurfaces() []grantSurface {
	list := []grantSurface{
		{"api", skillsByPolicy, skillsUnguarded},
		{"mcp-stdio", skillsByServer(false), skillsUnguarded},
		{"mcp-http", skillsByServer(true), skillsUnguarded},
	}
	if isRoot {
		list = append(list, grantSurface{"mount", viewByMount, callsUnguarded})
	}
	return append(list, grantSurface{"run", viewByRun, callsUnguarded})
}

// grantSite is a tree with the files that the attempts need in each of its
// directories.
func grantSite(t *testing.T) *site {
	at := newSite(t, os.Geteuid(), true)
	for _, dir := range []string{"root/src", "root/out", "root/docs", "root/.git/hooks", "outside"} {
		dir = filepath.Join(at.base, dir)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		for _, name := range strings.Fields("readme write edit batch append regex move delete truncate mode times linked") {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("one\ntwo\n"), 0o644))
		}
	}
	require.NoError(t, os.WriteFile(at.base+"/outside/secret", []byte("SECRET"), 0o644))
	require.NoError(t, os.Symlink("../../outside/secret", at.root+"/src/leak"))
	return at
}

// startRefused reports whether err says that nothing started, in these words.
func startRefused(err error, words string) bool {
	var s *startError
	switch {
	case err == nil:
		return false
	case errors.As(err, &s):
		return s.status > 0 && strings.Contains(s.text, words)
	}
	return strings.Contains(err.Error(), words)
}

func enabled(t *testing.T) []string {
	return []string{"--enable", "delete_file", "--enable", "apply_patch", "--state-dir", t.TempDir()}
}

// skillsByServer is `pinfold mcp`.
func skillsByServer(http bool) func(*testing.T, *site, []string) (grant, error) {
	return func(t *testing.T, at *site, flags []string) (grant, error) {
		args := append(append([]string{"mcp", "-C", at.root, "--no-sync"}, flags...), enabled(t)...)
		session, err := connect(t, exec.Command(pinfold, args...), http)
		if err != nil {
			return grant{}, err
		}
		return skillCalls(func(name string, args map[string]any) (string, error) { return callTool(session, name, args) }), nil
	}
}

// skillsByPolicy is the Go API: a policy, the resolver that holds it, the
// skills over that.
func skillsByPolicy(t *testing.T, at *site, flags []string) (grant, error) {
	opt := permission.Options{Root: at.root}
	if len(flags) == 4 { // --preset NAME -w PATH
		opt.Caller = &permission.Document{FS: &permission.FS{Write: []string{flags[3]}}}
	}
	p, err := permission.Preset(flags[1], opt)
	if err != nil {
		return grant{}, err
	}
	held, err := p.Resolver(at.root)
	if err != nil {
		return grant{}, err
	}
	return skillsOver(t, held.Config)
}

// skillsUnguarded are the skills where all of the root may be written, and
// reading as any program does it.
func skillsUnguarded(t *testing.T, at *site) grant {
	g, err := skillsOver(t, pathresolver.Config{Root: at.root, WritePaths: []string{"."}, Unprotect: pathresolver.DefaultProtected()})
	require.NoError(t, err)
	g.read = callsUnguarded(t, at).read
	return g
}

func skillsOver(t *testing.T, cfg pathresolver.Config) (grant, error) {
	r, err := pathresolver.New(cfg)
	if err != nil {
		return grant{}, err
	}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	set, err := fileskills.New(fileskills.Config{Resolver: r, NoSync: true, Enable: []string{"delete_file", "apply_patch"}, StateDir: t.TempDir()})
	require.NoError(t, err)
	return skillCalls(func(name string, args map[string]any) (string, error) {
		input, err := json.Marshal(args)
		require.NoError(t, err)
		res, err := set.Call(context.Background(), name, input)
		if err != nil {
			return "", err
		}
		return res.Text, nil
	}), nil
}

func callsUnguarded(t *testing.T, at *site) grant { return systemCalls(ops.Native{Root: at.root}) }

// viewByRun is the inside of `pinfold run`.
func viewByRun(t *testing.T, at *site, flags []string) (grant, error) {
	e, err := runSurface{"run", os.Geteuid()}.Start(t, at, flags, modes[0])
	if err != nil {
		return grant{}, err
	}
	return systemCalls(e), nil
}

// viewByMount is `pinfold mount`, looked at from where nothing else stands.
func viewByMount(t *testing.T, at *site, flags []string) (grant, error) {
	point := tempDir(t, os.Geteuid())
	cmd := exec.Command(pinfold, append(append([]string{"mount", "--foreground", "-C", at.root}, flags...), point)...)
	words, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := ""
	for lines := bufio.NewScanner(words); !strings.Contains(said, "confines nothing"); { // it stands
		if !lines.Scan() {
			return grant{}, &startError{status: exitStatus(cmd), text: said}
		}
		said += lines.Text() + "\n"
	}
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait(), "SIGTERM unmounts")
	})
	enter := exec.Command(insiderPath, "enter", point, at.root, strconv.Itoa(os.Geteuid()))
	enter.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	return systemCalls(newActor(start(t, enter, os.Geteuid()))), nil
}
