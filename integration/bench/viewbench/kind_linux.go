package viewbench

import "github.com/pinfold-dev/pinfold/integration/bench/worker"

// Kind is a way to show a tree. Exactly one of Mount and Wrap is set, or
// neither for the bare tree.
type Kind struct {
	Name  string
	Needs []string // programs; without them the kind is left out, and that is said
	// Mount is the command line of a daemon that shows tree at point and
	// stays in the foreground.
	Mount func(p Paths) []string
	// Wrap is the command line that runs argv inside.
	Wrap func(p Paths, argv []string) []string
	// Extra kinds take part only when they are asked for by name.
	Extra bool
	// Rival says that it is a file system in user space, which pinfold is to
	// be ahead of. The others are limits.
	Rival bool
}

// Names of columns that the report looks for.
const (
	Pinfold = "pinfold"
	Also    = "also" // a second binary of pinfold, beside the first
)

// Rivals are the names of the kinds that pinfold is to be ahead of.
func Rivals() []string {
	var names []string
	for _, k := range Kinds() {
		if k.Rival {
			names = append(names, k.Name)
		}
	}
	return names
}

// parts is how many write paths the column wp100 has besides "w".
const parts = 100

// Paths are what a kind's command lines are made of.
type Paths struct {
	Tree    string // the backing tree
	Point   string // an empty directory of its own
	Upper   string // an empty directory of its own, for what is written
	Scratch string // the same, for the kind's own use
	Bin     string // where the bench's programs are
}

// Kinds in the order of the table. Pinfold's flags are the defaults; --ro
// shows it the worker's binary, which lies outside the tree.
func Kinds() []Kind {
	run := func(program string, more ...string) func(Paths, []string) []string {
		return func(p Paths, argv []string) []string {
			line := []string{p.Bin + "/" + program, "run", "-C", p.Tree, "--write-path", "w", "--ro", p.Bin}
			line = append(line, more...)
			return append(append(line, "--"), argv...)
		}
	}
	return []Kind{
		{Name: "native"},
		{Name: Pinfold, Needs: []string{Pinfold}, Wrap: run(Pinfold)},
		{Name: Also, Needs: []string{Also}, Extra: true, Wrap: run(Also)},
		{Name: "bwrap", Needs: []string{"bwrap"}, Wrap: func(p Paths, argv []string) []string {
			line := []string{"bwrap", "--die-with-parent", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
				"--bind", p.Tree, p.Tree, "--chdir", p.Tree, "--"}
			return append(line, argv...)
		}},
		{Name: "loopback", Rival: true, Needs: []string{"loopback"}, Mount: func(p Paths) []string {
			return []string{p.Bin + "/loopback", p.Point, p.Tree}
		}},
		{Name: "bindfs", Rival: true, Needs: []string{"bindfs"}, Mount: func(p Paths) []string {
			return []string{"bindfs", "-f", "--no-allow-other", p.Tree, p.Point}
		}},
		{Name: "fuse-overlayfs", Rival: true, Needs: []string{"fuse-overlayfs"}, Mount: func(p Paths) []string {
			return []string{"fuse-overlayfs", "-f", "-o", "lowerdir=" + p.Tree + ",upperdir=" + p.Upper + ",workdir=" + p.Scratch, p.Point}
		}},
		{Name: "mergerfs", Rival: true, Needs: []string{"mergerfs"}, Mount: func(p Paths) []string {
			return []string{"mergerfs", "-f", p.Tree, p.Point}
		}},
		{Name: "passthrough_ll", Rival: true, Needs: []string{"passthrough_ll"}, Mount: func(p Paths) []string {
			return []string{p.Bin + "/passthrough_ll", "-f", "-o", "source=" + p.Tree, p.Point}
		}},
		{Name: "mount", Needs: []string{"pinfold"}, Extra: true, Mount: func(p Paths) []string {
			return []string{p.Bin + "/pinfold", "mount", "--foreground", "-C", p.Tree, "--write-path", "w", p.Point}
		}},
		{Name: "hide1000", Needs: []string{"pinfold"}, Extra: true, Wrap: run(Pinfold, numbered("--hide", "secret-%d/**/*.key", 1000)...)},
		{Name: "wp100", Needs: []string{"pinfold"}, Extra: true, Wrap: run(Pinfold, numbered("--write-path", worker.PartsDir+"/p%03d", parts)...)},
	}
}
