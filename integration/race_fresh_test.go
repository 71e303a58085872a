package integration

import "strings"

// freshRaces are the rows again, with names of its own for each operation:
// inside a view the kernel remembers a name for a while, and with it one side
// of the exchange, but not one that it never saw. The attacker swaps p/m# and
// p/m#.l all the time, for each # of a batch.
var freshRaces = []race{
	{
		id: "R01f", title: "R01 with fresh names: read child", fresh: true,
		attack: []string{"pairs", "p"}, op: do1("read", "p/m#/secret"), inside: "inside",
		setup: pairDirs("p"), clear: unpair("p"),
		prepare: func(g *ground, n string) { g.pairDir("p/m"+n, "../../outside", "secret") },
	},
	{
		id: "R02f", title: "R02 with fresh names: read", fresh: true,
		attack: []string{"pairs", "p"}, op: do1("read", "p/m#"), inside: "inside",
		setup: func(g *ground) {
			pairDirs("p")(g)
			g.put(g.out("victim"), "SECRET")
		},
		prepare: func(g *ground, n string) { g.pairFile("p/m"+n, "../../outside/victim") },
		clear:   unpair("p"),
	},
	{
		id: "R03f", title: "R03 with fresh names: write child", policy: []string{"-w", "."}, fresh: true,
		attack: []string{"pairs", "p"}, op: do1("write", "p/m#/new#", "evil"),
		setup: pairDirs("p"), clear: unpair("p"),
		prepare: func(g *ground, n string) { g.pairDir("p/m"+n, "../../outside") },
		escaped: func(g *ground, n string) bool { return appeared(g.out("new" + n)) },
	},
	{
		id: "R04f", title: "R04 with fresh names: write", policy: []string{"-w", "."}, fresh: true,
		attack: []string{"appear", "p"}, op: do1("write", "p/m#", "evil"),
		setup: pairDirs("p"), clear: unpair("p"),
		prepare: func(g *ground, n string) { g.symlink("../../outside/new"+n, g.in("p/m"+n+".l")) },
		escaped: func(g *ground, n string) bool { return appeared(g.out("new" + n)) },
	},
	{
		id: "R05f", title: "R05 with fresh names: mkdir -p", policy: []string{"-w", "."}, fresh: true,
		attack: []string{"pairs", "p"}, op: do1("mkdirall", "p/m#/n#/o"),
		setup: pairDirs("p"), clear: unpair("p"),
		prepare: func(g *ground, n string) { g.pairDir("p/m"+n, "../../outside") },
		escaped: func(g *ground, n string) bool { return appeared(g.out("n" + n)) },
	},
	{
		id: "R06f", title: "R06 with fresh names: rename", policy: []string{"-w", "."}, fresh: true,
		attack: []string{"pairs", "p"}, op: do1("rename", "x#", "p/m#/moved#"),
		setup: pairDirs("p"),
		prepare: func(g *ground, n string) {
			g.put(g.in("x"+n), "x")
			g.pairDir("p/m"+n, "../../outside")
		},
		escaped: func(g *ground, n string) bool { return appeared(g.out("moved" + n)) },
		clear: func(g *ground, n string) {
			unpair("p")(g, n)
			g.remove(g.in("x" + n))
		},
	},
	{
		id: "R07f", title: "R07 with fresh names: recursive remove", policy: []string{"-w", "."}, fresh: true, heavy: true,
		attack: []string{"pairs", "p"}, op: do1("removeall", "p/m#/dir"),
		mayWork: true, // where the link leads nowhere there is nothing to remove
		setup:   pairDirs("p"),
		prepare: func(g *ground, n string) {
			g.mkdir(g.out("m" + n))
			g.plantTree(g.out("m" + n + "/dir"))
			g.mkdir(g.in("p/m" + n))
			g.plantTree(g.in("p/m" + n + "/dir"))
			g.symlink("../../outside/m"+n, g.in("p/m"+n+".l"))
		},
		escaped: func(g *ground, n string) bool { return gone(g.out("m" + n + "/dir/deep/file")) },
		clear: func(g *ground, n string) {
			unpair("p")(g, n)
			g.remove(g.out("m" + n))
		},
	},
	{
		id: "R08f", title: "R08 with fresh names: '..' chain", fresh: true, mayWork: true, restless: true, batch: 4,
		attack: []string{"pairs", "p", "../p"}, inside: "inside",
		op: do1("read", "p/"+strings.Repeat("m#/../", dotDots)+"../marker"),
		setup: func(g *ground) {
			pairDirs("p", "../p")(g)
			g.put(g.in("marker"), "inside")
			g.put(g.in("../marker"), "SECRET")
		},
		prepare: func(g *ground, n string) {
			g.mkdir(g.in("p/m" + n))
			g.mkdir(g.in("../p/m" + n))
		},
		clear: func(g *ground, n string) { g.seize(g.in("p/m"+n), g.in("../p/m"+n)) },
	},
	{
		id: "R09f", title: "R09 with fresh names: chmod", policy: []string{"-w", "."}, fresh: true,
		attack: []string{"pairs", "p"}, op: do1("chmod", "p/m#", "0600"),
		setup: pairDirs("p"),
		prepare: func(g *ground, n string) {
			g.put(g.out("m"+n), "victim")
			g.pairFile("p/m"+n, "../../outside/m"+n)
		},
		escaped: func(g *ground, n string) bool { return g.changed(g.out("m" + n)) },
		clear: func(g *ground, n string) {
			unpair("p")(g, n)
			g.remove(g.out("m" + n))
		},
	},
	{
		id: "R10f", title: "R10 with fresh names: read", fresh: true, mustWork: true,
		attack: []string{"exchange", "d", "l"}, op: do1("read", "sub/deep/../../m#"), inside: "inside",
		prepare: func(g *ground, n string) { g.put(g.in("m"+n), "inside") },
		clear:   func(g *ground, n string) { g.remove(g.in("m" + n)) },
	},
	{
		id: "W36f", title: "W36 with fresh names: write into a read-only mount", policy: []string{"-w", "out"}, fresh: true,
		attack: []string{"pairs", "out/p"}, op: do1("write", "out/p/m#/new#", "evil"),
		setup: pairDirs("src", "out", "out/p"), clear: unpair("out/p"),
		prepare: func(g *ground, n string) { g.pairDir("out/p/m"+n, "../../src") },
		escaped: func(g *ground, n string) bool { return appeared(g.in("src/new" + n)) },
	},
}

// pairDirs makes the directories of the pairs.
func pairDirs(dirs ...string) func(*ground) {
	return func(g *ground) {
		for _, dir := range dirs {
			g.mkdir(g.in(dir))
		}
	}
}

// pairDir makes a pair: a directory with files in it, and a link to target,
// with which the attacker can begin.
func (g *ground) pairDir(name, target string, files ...string) {
	g.mkdir(g.in(name))
	for _, f := range files {
		g.put(g.in(name+"/"+f), "inside")
	}
	g.symlink(target, g.in(name+".l"))
}

// pairFile makes a pair: a file, and a link to target.
func (g *ground) pairFile(name, target string) {
	g.put(g.in(name), "inside")
	g.symlink(target, g.in(name+".l"))
}

// unpair takes the pairs in dir away.
func unpair(dir string) func(*ground, string) {
	return func(g *ground, n string) { g.seize(g.in(dir+"/m"+n), g.in(dir+"/m"+n+".l")) }
}
