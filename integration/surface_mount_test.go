package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

// mountSurface is a mount of the view, in a mount namespace of its own where
// nothing else stands, so that absolute paths, links and ".." stay inside, and
// in a pid namespace, so that /proc does not lead outside either.
// Another process serves it, a third acts in it.
type mountSurface struct {
	name string
	uid  int
}

func (m mountSurface) Name() string { return m.name }
func (m mountSurface) UID() int     { return m.uid }
func (m mountSurface) InView() bool { return true }

func (m mountSurface) Start(t *testing.T, s *site, policy []string, mode string) (ops.Executor, error) {
	at := tempDir(t, m.uid)
	if _, err := serveView(t, m.uid, ops.ViewConfig{Dir: at, Config: config(s, policy, mode)}); err != nil {
		return nil, err
	}
	cmd := exec.Command(insiderPath, "enter", at, s.root, strconv.Itoa(m.uid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	inner := start(t, cmd, 0)
	return newActor(inner), nil
}

// serveView starts a process of uid that serves a view until the test ends.
func serveView(t *testing.T, uid int, c ops.ViewConfig) (*peer, error) {
	t.Helper()
	server := start(t, asUser(uid, modes[0], insiderPath, "view"), os.Geteuid())
	require.NoError(t, json.NewEncoder(server.in).Encode(c))
	line, err := server.out.ReadString('\n')
	require.NoError(t, err, "the server said %q", server.stderr)
	if refused, ok := strings.CutPrefix(strings.TrimSpace(line), "refused "); ok {
		return nil, &startError{codes: strings.Split(refused, ","), text: server.stderr.String()}
	}
	require.Equal(t, "ready\n", line)
	return server, nil
}

func (m mountSurface) Unguarded(t *testing.T, s *site) ops.Executor { return bare(t, s) }

// bare is another process that acts on the tree as it is, and holds what $FD
// and $DIRFD name.
func bare(t *testing.T, s *site) ops.Executor {
	t.Helper()
	dir, err := os.Open(s.vars["OUTSIDE"])
	require.NoError(t, err)
	defer dir.Close()
	secret, err := os.Open(s.vars["OUTSIDE"] + "/secret")
	require.NoError(t, err)
	defer secret.Close()
	cmd := exec.Command(insiderPath, "serve", s.root)
	cmd.ExtraFiles = make([]*os.File, heldFD-3, heldFD-1)
	cmd.ExtraFiles = append(cmd.ExtraFiles, secret, dir)
	p := start(t, cmd, s.uid)
	return newActor(p)
}

// tempDir is an empty directory of uid, away from every site.
func tempDir(t *testing.T, uid int) string {
	t.Helper()
	dir, err := os.MkdirTemp(arena, "mnt-")
	require.NoError(t, err)
	require.NoError(t, os.Chown(dir, uid, uid))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// asUser is a command, to be started as ourselves, that runs a program as uid
// with a /dev/fuse that it may open; in mode "walker" also without openat2.
func asUser(uid int, mode string, program ...string) *exec.Cmd {
	cmd := exec.Command(insiderPath, append([]string{"as", strconv.Itoa(uid), mode, fuseNode}, program...)...)
	switch {
	case uid == os.Geteuid() && mode == modes[0]:
		return exec.Command(program[0], program[1:]...)
	case isRoot:
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	}
	return cmd
}
