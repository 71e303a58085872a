package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/ops"
)

// heldFD is a descriptor that no process has of itself.
const heldFD = 90

// nobody is the ordinary user of the tests.
const nobody = 65534

// site is one tree on the disk: base/root is the sandbox root, everything
// else in base is outside.
type site struct {
	t      *testing.T
	base   string
	root   string
	uid    int  // who owns the tree and acts
	inView bool // another process acts, not this one
	vars   cases.Vars
	mounts []string
}

// newSite makes an empty one, which the end of the test removes.
func newSite(t *testing.T, uid int, inView bool) *site {
	t.Helper()
	return newSiteIn(t, arena, uid, inView)
}

func newSiteIn(t *testing.T, dir string, uid int, inView bool) *site {
	t.Helper()
	base, err := os.MkdirTemp(dir, "site-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(base, 0o755))
	s := &site{t: t, base: base, root: filepath.Join(base, "root"), uid: uid, inView: inView}
	s.vars = cases.Vars{"BASE": base, "ROOT": s.root, "OUTSIDE": base + "/outside", "PID": "0", "FD": strconv.Itoa(heldFD), "DIRFD": strconv.Itoa(heldFD + 1)}
	t.Cleanup(func() {
		for i := len(s.mounts) - 1; i >= 0; i-- {
			require.NoError(t, unix.Unmount(s.mounts[i], unix.MNT_DETACH))
		}
		require.NoError(t, os.RemoveAll(base))
	})
	require.NoError(t, os.Mkdir(s.root, 0o755))
	return s
}

// build makes the tree of a row and gives it to the site's user.
func (s *site) build(entries []cases.Entry) {
	s.t.Helper()
	require.NoError(s.t, os.MkdirAll(s.vars["OUTSIDE"], 0o755))
	for _, e := range entries {
		switch {
		case strings.Contains(e.What, "$PID"):
			s.hold()
		case strings.Contains(e.What, "FD"):
			s.holdHere()
		}
	}
	for _, e := range entries {
		require.NoError(s.t, e.Make(s.root, s.vars, s.listen), "%v", e)
	}
	s.own()
}

// own gives every name in the tree to the site's user.
func (s *site) own() {
	s.t.Helper()
	if s.uid == os.Geteuid() {
		return
	}
	require.NoError(s.t, filepath.WalkDir(s.base, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, s.uid, s.uid)
	}))
}

// secret opens the file outside, which it makes if need be.
func (s *site) secret() *os.File {
	s.t.Helper()
	name := s.vars["OUTSIDE"] + "/secret"
	require.NoError(s.t, os.WriteFile(name, []byte("SECRET"), 0o644))
	f, err := os.Open(name)
	require.NoError(s.t, err)
	return f
}

// hold starts the process that $PID names.
func (s *site) hold() {
	s.t.Helper()
	if s.vars["PID"] != "0" {
		return
	}
	f := s.secret()
	defer f.Close()
	cmd := exec.Command(insiderPath, "hold")
	cmd.Dir = s.vars["OUTSIDE"]
	cmd.ExtraFiles = []*os.File{f}
	startPeer(s.t, cmd, s.uid)
	s.vars["PID"] = strconv.Itoa(cmd.Process.Pid)
}

// holdHere opens what $FD and $DIRFD name in the test process, for surfaces
// where that acts itself. Other processes are given them as heldFD and the
// one after it.
func (s *site) holdHere() {
	s.t.Helper()
	if s.inView || s.vars["FD"] != strconv.Itoa(heldFD) {
		return
	}
	f := s.secret()
	dir, err := os.Open(s.vars["OUTSIDE"])
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _, _ = f.Close(), dir.Close() })
	s.vars["FD"], s.vars["DIRFD"] = fmt.Sprint(f.Fd()), fmt.Sprint(dir.Fd())
}

func (s *site) listen(path string) error {
	l, err := net.Listen("unix", path)
	if err == nil {
		s.t.Cleanup(func() { _ = l.Close() })
	}
	return err
}

// step does what someone else does, beside the surface. Its paths are ours,
// so they are simply joined.
func (s *site) step(l cases.Line) {
	s.t.Helper()
	op := l.Op(s.vars)
	at := func(i int) string { return filepath.Join(s.root, op.Arg(i)) }
	switch op.Verb {
	case "bind":
		s.mount(at(0), at(1), "", unix.MS_BIND)
		return
	case "mountproc":
		s.mount("proc", at(0), "proc", 0)
		s.hold()
		return
	}
	for i := range op.Args {
		text := op.Verb == "symlink" && i == 0 || op.Verb == "write" && i == 1
		if !text {
			op.Args[i] = []byte(at(i))
		}
	}
	res := ops.Native{}.Do(op)
	require.True(s.t, res.OK(), "%s: %s", l.Text, res.Text)
	if op.Verb == "mkdir" || op.Verb == "write" {
		require.NoError(s.t, os.Lchown(string(op.Args[0]), s.uid, s.uid))
	}
}

func (s *site) mount(source, target, kind string, flags uintptr) {
	s.t.Helper()
	require.NoError(s.t, unix.Mount(source, target, kind, flags, ""))
	s.mounts = append(s.mounts, target)
}

func (s *site) snapshot() cases.Snapshot {
	s.t.Helper()
	snap, err := cases.Take(s.base)
	require.NoError(s.t, err)
	return snap
}

func (s *site) String() string { return fmt.Sprintf("site %s of uid %d", s.base, s.uid) }
