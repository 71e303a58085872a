package integration

import (
	"os"

	"github.com/stretchr/testify/require"
)

// freshRaces are rows R with a new name for each operation, since inside a
// view the kernel remembers a name for a while, and with it one side of the
// exchange. The attacker swaps p/m# and p/m#.l.
var freshRaces = []race{
	{
		id: "R01f", title: "R01 with fresh names: read", again: true,
		attack: [3]string{"pairs", "p"}, op: do1("read", "p/m#/secret"), inside: "inside",
		setup: makePairs("p"), reset: freshPair("p", "../../outside"),
	},
	{
		id: "R03f", title: "R03 with fresh names: write", policy: []string{"-w", "."}, again: true,
		attack: [3]string{"pairs", "p"}, op: do1("write", "p/m#/new", "evil"),
		setup: makePairs("p"), reset: freshPair("p", "../../outside"),
		escaped: func(g *ground) bool { return appeared(g.out("new")) },
	},
	{
		id: "R06f", title: "R06 with fresh names: rename", policy: []string{"-w", "."}, again: true,
		attack: [3]string{"pairs", "p"}, op: do1("rename", "x#", "p/m#/moved"),
		setup: makePairs("p"),
		reset: func(g *ground) {
			require.NoError(g.t, os.RemoveAll(g.in(g.numbered("x#", -1))))
			g.put(g.in(g.numbered("x#", 0)), "x")
			freshPair("p", "../../outside")(g)
		},
		escaped: func(g *ground) bool { return appeared(g.out("moved")) },
	},
	{
		id: "R09f", title: "R09 with fresh names: chmod", policy: []string{"-w", "."}, again: true,
		attack: [3]string{"pairs", "p"}, op: do1("chmod", "p/m#/f", "0600"),
		setup: func(g *ground) {
			makePairs("p")(g)
			g.put(g.out("f"), "f")
		},
		reset: func(g *ground) {
			freshPair("p", "../../outside")(g)
		},
		escaped: func(g *ground) bool {
			info, err := os.Lstat(g.out("f"))
			require.NoError(g.t, err)
			return info.Mode().Perm() != 0o644 && os.Chmod(g.out("f"), 0o644) == nil
		},
	},
	{
		id: "W36f", title: "W36 with fresh names: write into a read-only part", policy: []string{"-w", "out"}, again: true,
		attack: [3]string{"pairs", "out/p"}, op: do1("write", "out/p/m#/new", "evil"),
		setup: func(g *ground) {
			makePairs("src")(g)
			makePairs("out/p")(g)
		},
		reset:   freshPair("out/p", "../../src"),
		escaped: func(g *ground) bool { return appeared(g.in("src/new")) },
	},
}

// makePairs makes the directory of the pairs.
func makePairs(dir string) func(*ground) {
	return func(g *ground) {
		require.NoError(g.t, os.MkdirAll(g.in(dir), 0o755))
		g.own()
	}
}

// freshPair makes the next pair, a directory and a link to target, in the
// place of the last one.
func freshPair(dir, target string) func(*ground) {
	return func(g *ground) {
		name := func(suffix string, before int) string { return g.in(dir + "/" + g.numbered("m#", before) + suffix) }
		for _, suffix := range []string{"", ".l"} {
			for old := name(suffix, -1); !gone(old); { // until the attacker can swap no more
				_ = os.RemoveAll(old)
			}
		}
		require.NoError(g.t, os.Mkdir(name("", 0), 0o755))
		for _, f := range []string{"secret", "f"} {
			g.put(name("/"+f, 0), "inside")
		}
		g.give(name("", 0))
		require.NoError(g.t, os.Symlink(target, name(".l", 0)))
	}
}
