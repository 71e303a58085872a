package leftover

import (
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

func noted(r *Record) map[string]note {
	all := map[string]note{}
	r.each(func(place string, notes note) { all[place] = notes })
	return all
}

func created(place string, mode fs.FileMode) sandboxfs.Change {
	return sandboxfs.Change{Op: access.OpCreate, Place: place, Mode: mode}
}

// What a name or a mode may mean later is noted, and sources are not.
func TestWhatIsNoted(t *testing.T) {
	for place, want := range map[string]struct {
		mode fs.FileMode
		at   string
		note note
	}{
		"src/main.go":                   {0o644, "", 0},
		"src/dir":                       {fs.ModeDir | 0o755, "", 0},
		"src/run.sh":                    {0o755, "src/run.sh", isExecutable},
		"src/link":                      {fs.ModeSymlink | 0o777, "src/link", isLink},
		"src/fifo":                      {fs.ModeNamedPipe, "src/fifo", isSpecial},
		"src/sock":                      {fs.ModeSocket, "src/sock", isSpecial},
		"src/Makefile":                  {0o644, "src/Makefile", isLater},
		".github/workflows/x.yml":       {0o644, ".github/workflows/x.yml", isLater},
		".vscode/tasks.json":            {0o644, ".vscode/tasks.json", isByItself},
		"a/node_modules/b/index.js":     {0o644, "a/node_modules", isLater},
		"a/node_modules/b/package.json": {0o644, "a/node_modules", isLater},
		"a/node_modules/.bin/tool":      {fs.ModeSymlink | 0o777, "a/node_modules/.bin/tool", isLink},
		"a/.git":                        {fs.ModeDir | 0o755, "a/.git", isRepository},
		"a/.Git":                        {0o644, "a/.Git", isRepository},
		"a/.git/hooks/pre-commit":       {0o644, "a/.git", isRepository},
		"a/.git/config":                 {0o644, "a/.git", isRepository},
		"a/.git/refs/heads/main":        {0o644, "", 0},
		"a/.git/objects/ab/cd":          {0o444, "", 0},
		"a/.git/rebase-merge":           {fs.ModeDir | 0o755, "a/.git/rebase-merge", isOperation},
		"a/.git/MERGE_HEAD":             {0o644, "a/.git/MERGE_HEAD", isOperation},
		"a/.git/worktrees/w/MERGE_HEAD": {0o644, "a/.git/worktrees/w/MERGE_HEAD", isOperation},
		"bare/objects":                  {fs.ModeDir | 0o755, "bare", isRepository},
		"objects":                       {fs.ModeDir | 0o755, ".", isRepository},
		"bare/sequencer":                {fs.ModeDir | 0o755, "bare/sequencer", isOperation},
		"a/.git/COMMIT_EDITMSG":         {fs.ModeSymlink | 0o777, "a/.git/COMMIT_EDITMSG", isLink},
	} {
		r := NewRecord(func(string) bool { return true })
		r.Changed(created(place, want.mode))
		all := map[string]note{}
		if want.note != 0 {
			all[want.at] = want.note
		}
		require.Equal(t, all, noted(r), place)
	}
}

// A name gets its meaning by a move, too.
func TestWhatAMoveNotes(t *testing.T) {
	r := NewRecord(func(string) bool { return true })
	move := func(from, to string, typ fs.FileMode) {
		r.Changed(sandboxfs.Change{Op: access.OpRename, Place: from, To: to, Mode: typ})
	}
	r.Changed(created("a/run.sh", 0o755))
	move("tmp", "Makefile", 0)
	move("old", "link", fs.ModeSymlink)
	move("a", "b", fs.ModeDir)
	move("x", ".vscode", fs.ModeDir)
	require.Equal(t, map[string]note{
		"Makefile": isLater, "link": isLink, "b": isMoved, "b/run.sh": isExecutable, ".vscode": isMoved | r.named(".vscode"),
	}, noted(r))
}

// fake is a tree of files, by their places.
type fake map[string]bool // whether it is executable

func (f fake) has(place string) bool {
	_, found := f[place]
	return found || f.isDir(place)
}

func (f fake) isDir(place string) bool {
	for name := range f {
		if strings.HasPrefix(name, place+"/") {
			return true
		}
	}
	return false
}

func (f fake) beneath(place string) (names []string) {
	for name := range f {
		if name == place || strings.HasPrefix(name, place+"/") {
			names = append(names, name)
		}
	}
	return names
}

// Whatever is made, moved, exchanged and removed: the executables that are there
// in the end are known by the names that they have then, also with little room.
func TestRecordFollows(t *testing.T) {
	place := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 4).Draw(t, "names"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		tree := fake{}
		r := NewRecord(tree.has)
		r.most = rapid.SampledFrom([]int{maxEntries, 40}).Draw(t, "room")
		for range rapid.IntRange(1, 80).Draw(t, "changes") {
			at, to := place.Draw(t, "place"), place.Draw(t, "to")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				if tree.isDir(at) || blocked(tree, at) {
					continue
				}
				mode := fs.FileMode(0o644)
				if tree[at] = rapid.Bool().Draw(t, "executable"); tree[at] {
					mode = 0o755
				}
				r.Changed(created(at, mode))
			case 1:
				for _, name := range tree.beneath(at) {
					delete(tree, name)
				}
			case 2, 3:
				exchange := rapid.Bool().Draw(t, "exchange")
				if !tree.has(at) || at == to || strings.HasPrefix(to, at+"/") || strings.HasPrefix(at, to+"/") || blocked(tree, to) || exchange && !tree.has(to) ||
					!exchange && (tree.isDir(to) || tree.has(to) && tree.isDir(at)) {
					continue
				}
				typ := fs.FileMode(0)
				if tree.isDir(at) {
					typ = fs.ModeDir
				}
				renamed := fake{}
				for name, executable := range tree {
					switch {
					case name == at || strings.HasPrefix(name, at+"/"):
						renamed[to+name[len(at):]] = executable
					case exchange && (name == to || strings.HasPrefix(name, to+"/")):
						renamed[at+name[len(to):]] = executable
					case name != to:
						renamed[name] = executable
					}
				}
				clear(tree)
				for name, executable := range renamed {
					tree[name] = executable
				}
				r.Changed(sandboxfs.Change{Op: access.OpRename, Place: at, To: to, Exchange: exchange, Mode: typ})
			}
		}
		known := noted(r)
		var lost []string
		for name, executable := range tree {
			if executable && known[name]&isExecutable == 0 {
				lost = append(lost, name)
			}
		}
		sort.Strings(lost)
		if uint64(len(lost)) > r.Dropped() {
			t.Fatalf("%v are not known, and only %d dropped", lost, r.Dropped())
		}
		if n := r.top.count() - 1; n != r.size || n > r.most+4 {
			t.Fatalf("%d entries, counted as %d", n, r.size)
		}
	})
}

// blocked reports whether something above a place is a file.
func blocked(tree fake, place string) bool {
	for dir := path.Dir(place); dir != "."; dir = path.Dir(dir) {
		if _, file := tree[dir]; file {
			return true
		}
	}
	return false
}

// Files that come and go need no room, and what there is no room for is counted.
func TestRecordIsBounded(t *testing.T) {
	there := map[string]bool{}
	r := NewRecord(func(place string) bool { return there[place] })
	for i := range 4 * maxEntries {
		r.Changed(created(fmt.Sprintf("%d", i), 0o755))
	}
	require.Zero(t, r.Dropped(), "all were gone")
	require.LessOrEqual(t, r.size, maxEntries)
	looked := 0
	r = NewRecord(func(string) bool { looked++; return true })
	for i := range 4 * maxEntries {
		r.Changed(created(fmt.Sprintf("%d", i), 0o755))
	}
	require.Equal(t, uint64(3*maxEntries), r.Dropped())
	require.Len(t, noted(r), maxEntries)
	require.LessOrEqual(t, looked, 3*maxEntries, "it does not look again for each")
}

func BenchmarkChangedSource(b *testing.B) {
	r := NewRecord(func(string) bool { return true })
	c := sandboxfs.Change{Op: access.OpWrite, Place: "internal/deep/source/file.go", Mode: 0o644}
	for b.Loop() {
		r.Changed(c)
	}
}
