package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

// race is one row R of the catalogue: an attacker exchanges two names, or
// plants a link, while an operation runs again and again.
type race struct {
	id, title string
	policy    []string
	attack    [3]string          // role of insider and its two arguments, beneath root
	op        ops.Op             // "#" is the number of the operation
	inside    string             // what a good read gives
	setup     func(g *ground)    // once, beside the common tree
	reset     func(g *ground)    // before each operation
	escaped   func(*ground) bool // after each: did it act outside? It repairs what it finds.
	mustWork  bool               // R10: the operation may not even fail
	mayWork   bool               // R08: it may always work, since c is always there
	heavy     bool               // each operation needs trees of its own: fewer of them in the short run
	again     bool               // a row of the catalogue once more: fewer in the long run as well
}

// ground is the disk of one race.
type ground struct {
	*site
	real *os.File // the directory that is exchanged, wherever it is now
	n    int      // counts the operations
}

// numbered puts the number of an operation, this one's or one before it, in
// the place of "#". New names are what no cache in a view knows.
func (g *ground) numbered(name string, before int) string {
	return strings.ReplaceAll(name, "#", strconv.Itoa(g.n+before))
}

func (g *ground) in(p string) string  { return filepath.Join(g.root, p) }
func (g *ground) out(p string) string { return filepath.Join(g.vars["OUTSIDE"], p) }

// inReal is a path in the exchanged directory itself.
func (g *ground) inReal(p string) string { return fmt.Sprintf("/proc/self/fd/%d/%s", g.real.Fd(), p) }

func (g *ground) put(path, data string) {
	require.NoError(g.t, os.WriteFile(path, []byte(data), 0o644))
	g.give(path)
}

func (g *ground) give(path string) { require.NoError(g.t, os.Lchown(path, g.uid, g.uid)) }

// gone reports whether path, which is there from the start, went away.
func gone(path string) bool { _, err := os.Lstat(path); return err != nil }

// appeared removes what stands at path, outside, and reports whether it did.
func appeared(path string) bool {
	if gone(path) {
		return false
	}
	return os.RemoveAll(path) == nil
}

func do1(verb string, args ...string) ops.Op {
	op := ops.Op{Verb: verb}
	for _, a := range args {
		op.Args = append(op.Args, []byte(a))
	}
	return op
}

// races are the rows. The common tree: d is a directory, l a link to
// ../outside, f a file, lf a link to ../outside/victim.
var races = []race{
	{
		id: "R01", title: "swap directory <-> symlink to outside, read child",
		attack: [3]string{"exchange", "d", "l"}, op: do1("read", "d/secret"), inside: "inside",
	},
	{
		id: "R02", title: "swap file <-> symlink to outside file, read",
		attack: [3]string{"exchange", "f", "lf"}, op: do1("read", "f"), inside: "inside",
		setup: func(g *ground) { g.put(g.out("victim"), "SECRET") },
	},
	{
		id: "R03", title: "swap directory <-> symlink, write child", policy: []string{"-w", "."},
		attack: [3]string{"exchange", "d", "l"}, op: do1("write", "d/new", "evil"),
		escaped: func(g *ground) bool { return appeared(g.out("new")) },
	},
	{
		id: "R04", title: "dangling symlink appears at a missing name, write", policy: []string{"-w", "."},
		attack: [3]string{"plant", "../outside/new", "n"}, op: do1("write", "n", "evil"),
		escaped: func(g *ground) bool { return appeared(g.out("new")) },
	},
	{
		id: "R05", title: "swap directory <-> symlink during mkdir -p", policy: []string{"-w", "."},
		attack: [3]string{"exchange", "d", "l"}, op: do1("mkdirall", "d/m#/n"),
		reset:   func(g *ground) { require.NoError(g.t, os.RemoveAll(g.inReal(g.numbered("m#", -1)))) },
		escaped: func(g *ground) bool { return appeared(g.out(g.numbered("m#", 0))) },
	},
	{
		id: "R06", title: "swap directory <-> symlink during rename into it", policy: []string{"-w", "."},
		attack: [3]string{"exchange", "d", "l"}, op: do1("rename", "x", "d/moved"),
		reset:   func(g *ground) { g.put(g.in("x"), "x") },
		escaped: func(g *ground) bool { return appeared(g.out("moved")) },
	},
	{
		id: "R07", title: "swap directory <-> symlink during recursive remove of a child", policy: []string{"-w", "."}, heavy: true,
		attack: [3]string{"exchange", "d", "l"}, op: do1("removeall", "d/dir#"),
		reset: func(g *ground) {
			for _, parent := range []func(string) string{g.inReal, g.out} {
				require.NoError(g.t, os.RemoveAll(parent(g.numbered("dir#", -1))))
				g.refill(parent(g.numbered("dir#", 0)))
			}
		},
		escaped: func(g *ground) bool { return gone(g.out(g.numbered("dir#/deep/file", 0))) },
	},
	{
		id: "R08", title: "'..' chain while a directory is exchanged with one outside",
		attack: [3]string{"exchange", "c", "../c"}, inside: "inside", mayWork: true,
		op: do1("read", "c/../c/../c/../c/../c/../c/../c/../c/../marker"),
		setup: func(g *ground) {
			for _, dir := range []string{g.in("c"), g.in("../c")} {
				require.NoError(g.t, os.Mkdir(dir, 0o755))
				g.give(dir)
			}
			g.put(g.in("marker"), "inside")
			g.put(g.in("../marker"), "SECRET")
		},
	},
	{
		id: "R09", title: "swap file <-> symlink during chmod (CVE-2026-32282)", policy: []string{"-w", "."},
		attack: [3]string{"exchange", "f", "lf"}, op: do1("chmod", "f", "0600"),
		escaped: func(g *ground) bool {
			info, err := os.Lstat(g.out("victim"))
			require.NoError(g.t, err)
			if info.Mode().Perm() == 0o644 {
				return false
			}
			return os.Chmod(g.out("victim"), 0o644) == nil
		},
	},
	{
		id: "R10", title: "a good read with '..' under an unrelated rename storm",
		attack: [3]string{"exchange", "d", "l"}, op: do1("read", "sub/deep/../../f"), inside: "inside",
		mustWork: true,
	},
	{
		id: "W36", title: "swap out/d <-> symlink ../src, write out/d/x", policy: []string{"-w", "out"},
		attack: [3]string{"exchange", "out/d", "out/l"}, op: do1("write", "out/d/new", "evil"),
		setup: func(g *ground) {
			for _, dir := range []string{"out", "out/d", "src"} {
				require.NoError(g.t, os.Mkdir(g.in(dir), 0o755))
				g.give(g.in(dir))
			}
			require.NoError(g.t, os.Symlink("../src", g.in("out/l")))
		},
		escaped: func(g *ground) bool { return appeared(g.in("src/new")) },
	},
}

// refill makes a small tree at dir, which R07 removes.
func (g *ground) refill(dir string) {
	require.NoError(g.t, os.MkdirAll(dir+"/deep", 0o755))
	g.give(dir)
	g.give(dir + "/deep")
	g.put(dir+"/deep/file", "SECRET")
}

// newGround makes the common tree and the race's own.
func newGround(t *testing.T, s Surface, r race) *ground {
	g := &ground{site: newSite(t, s.UID(), s.InView())}
	for _, dir := range []string{g.in("d"), g.in("sub/deep"), g.out("")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	for path, data := range map[string]string{
		g.in("d/secret"): "inside", g.in("f"): "inside", g.in("x"): "x", g.out("secret"): "SECRET", g.out("victim"): "victim",
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
