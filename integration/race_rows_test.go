package integration

import (
	"strings"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

func do1(verb string, args ...string) ops.Op {
	op := ops.Op{Verb: verb}
	for _, a := range args {
		op.Args = append(op.Args, []byte(a))
	}
	return op
}

// dotDots is how often R08 goes down and up again. The kernel begins anew when
// a name moves under it, so that the way has to be long for it to be caught
// twice.
const dotDots = 100

// races are the rows as the catalogue has them: one pair of names, swapped all
// the time. The tree is newGround's.
var races = []race{
	{
		id: "R01", title: "swap directory <-> symlink to outside, read child",
		attack: []string{"exchange", "d", "l"}, op: do1("read", "d/secret"), inside: "inside",
	},
	{
		id: "R02", title: "swap file <-> symlink to outside file, read",
		attack: []string{"exchange", "f", "lf"}, op: do1("read", "f"), inside: "inside",
		setup: func(g *ground) { g.put(g.out("victim"), "SECRET") },
	},
	{
		id: "R03", title: "swap directory <-> symlink, write child", policy: []string{"-w", "."},
		attack: []string{"exchange", "d", "l"}, op: do1("write", "d/new#", "evil"),
		escaped: func(g *ground, n string) bool { return appeared(g.out("new" + n)) },
		clear:   func(g *ground, n string) { g.remove(g.inReal("new" + n)) },
	},
	{
		id: "R04", title: "dangling symlink appears at a missing name, write", policy: []string{"-w", "."},
		attack: []string{"plant", "../outside/new", "n"}, op: do1("write", "n", "evil"), batch: 10,
		escaped: func(g *ground, _ string) bool { return appeared(g.out("new")) },
	},
	{
		id: "R05", title: "swap directory <-> symlink during mkdir -p", policy: []string{"-w", "."},
		attack: []string{"exchange", "d", "l"}, op: do1("mkdirall", "d/m#/n"),
		escaped: func(g *ground, n string) bool { return appeared(g.out("m" + n)) },
		clear:   func(g *ground, n string) { g.remove(g.inReal("m" + n)) },
	},
	{
		id: "R06", title: "swap directory <-> symlink during rename into it", policy: []string{"-w", "."},
		attack: []string{"exchange", "d", "l"}, op: do1("rename", "x#", "d/moved#"),
		prepare: func(g *ground, n string) { g.put(g.in("x"+n), "x") },
		escaped: func(g *ground, n string) bool { return appeared(g.out("moved" + n)) },
		clear:   func(g *ground, n string) { g.remove(g.in("x"+n), g.inReal("moved"+n)) },
	},
	{
		id: "R07", title: "swap directory <-> symlink during recursive remove of a child", policy: []string{"-w", "."}, heavy: true,
		attack: []string{"exchange", "d", "l"}, op: do1("removeall", "d/dir#"),
		prepare: func(g *ground, n string) {
			g.plantTree(g.inReal("dir" + n))
			g.plantTree(g.out("dir" + n))
		},
		escaped: func(g *ground, n string) bool { return gone(g.out("dir" + n + "/deep/file")) },
		clear:   func(g *ground, n string) { g.remove(g.inReal("dir"+n), g.out("dir"+n)) },
	},
	{
		id: "R08", title: "'..' chain while a directory is exchanged with one outside",
		attack: []string{"exchange", "c", "../c"}, inside: "inside", mayWork: true, restless: true,
		op: do1("read", strings.Repeat("c/../", dotDots)+"marker"),
		setup: func(g *ground) {
			for _, dir := range []string{g.in(""), g.base} {
				g.mkdir(dir + "/c")
			}
			g.put(g.in("marker"), "inside")
			g.put(g.in("../marker"), "SECRET")
		},
	},
	{
		id: "R09", title: "swap file <-> symlink during chmod (CVE-2026-32282)", policy: []string{"-w", "."},
		attack: []string{"exchange", "f", "lf"}, op: do1("chmod", "f", "0600"), batch: 10,
		escaped: func(g *ground, _ string) bool { return g.changed(g.out("victim")) },
	},
	{
		id: "R10", title: "a good read with '..' under an unrelated rename storm",
		attack: []string{"exchange", "d", "l"}, op: do1("read", "sub/deep/../../f"), inside: "inside",
		mustWork: true,
	},
	{
		id: "W36", title: "swap out/d <-> symlink ../src, write out/d/x", policy: []string{"-w", "out"},
		attack: []string{"exchange", "out/d", "out/l"}, op: do1("write", "out/d/new", "evil"), batch: 10,
		setup: func(g *ground) {
			for _, dir := range []string{"out", "out/d", "src"} {
				g.mkdir(g.in(dir))
			}
			g.symlink("../src", g.in("out/l"))
		},
		escaped: func(g *ground, _ string) bool { return appeared(g.in("src/new")) },
	},
}
