package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// ground is the disk of one race.
type ground struct {
	*site
	real  *os.File // the directory that is exchanged, wherever it is now
	trash string   // outside, where the attacker does not look
}

// newGround makes the common tree and the race's own: d is a directory, l a
// link to ../outside, f a file, lf a link to ../outside/victim.
func newGround(t *testing.T, s Surface, r race) *ground {
	g := &ground{site: newSiteIn(t, ram, s.UID(), s.InView())}
	g.trash = filepath.Join(g.base, "trash")
	for _, dir := range []string{g.in("d"), g.in("sub/deep"), g.out(""), g.trash} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	for path, data := range map[string]string{
		g.in("d/secret"): "inside", g.in("f"): "inside", g.out("secret"): "SECRET", g.out("victim"): "victim",
	} {
		require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
	}
	require.NoError(t, os.Symlink("../outside", g.in("l")))
	require.NoError(t, os.Symlink("../outside/victim", g.in("lf")))
	g.own()
	real, err := os.OpenFile(g.in("d"), unix.O_PATH|unix.O_DIRECTORY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = real.Close() })
	g.real = real
	if r.setup != nil {
		r.setup(g)
	}
	return g
}

func (g *ground) in(p string) string  { return filepath.Join(g.root, p) }
func (g *ground) out(p string) string { return filepath.Join(g.vars["OUTSIDE"], p) }

// inReal is a path in the exchanged directory itself.
func (g *ground) inReal(p string) string { return fmt.Sprintf("/proc/self/fd/%d/%s", g.real.Fd(), p) }

// put writes a file, mkdir makes a directory and symlink a link, each for the
// ground's user.
func (g *ground) put(path, data string) {
	require.NoError(g.t, os.WriteFile(path, []byte(data), 0o644))
	g.give(path)
}

func (g *ground) mkdir(path string) {
	require.NoError(g.t, os.Mkdir(path, 0o755))
	g.give(path)
}

func (g *ground) symlink(target, path string) { require.NoError(g.t, os.Symlink(target, path)) }

func (g *ground) give(path string) {
	if g.uid != os.Geteuid() {
		require.NoError(g.t, os.Lchown(path, g.uid, g.uid))
	}
}

// plantTree makes a small tree at dir, which R07 removes.
func (g *ground) plantTree(dir string) {
	g.mkdir(dir)
	g.mkdir(dir + "/deep")
	g.put(dir+"/deep/file", "SECRET")
}

// remove takes away what stands at paths, if anything does, and nobody else
// touches.
func (g *ground) remove(paths ...string) {
	for _, p := range paths {
		require.NoError(g.t, os.RemoveAll(p))
	}
}

// seize takes away paths that the attacker still moves about among
// themselves: one by one to where it does not look, until none is left.
func (g *ground) seize(paths ...string) {
	for left := true; left; {
		left = false
		for i, p := range paths {
			to := fmt.Sprintf("%s/%d", g.trash, i)
			if os.Rename(p, to) == nil {
				left = true
				g.remove(to)
			}
		}
	}
}

// gone reports whether path, which is there from the start, went away.
func gone(path string) bool { _, err := os.Lstat(path); return err != nil }

// appeared removes what stands at path, outside, and reports whether it did.
func appeared(path string) bool {
	if gone(path) {
		return false
	}
	return os.RemoveAll(path) == nil
}

// changed puts the mode of path, outside, back to what it was, and reports
// whether it was another one.
func (g *ground) changed(path string) bool {
	info, err := os.Lstat(path)
	require.NoError(g.t, err)
	return info.Mode().Perm() != 0o644 && os.Chmod(path, 0o644) == nil
}
