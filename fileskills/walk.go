package fileskills

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// The bounds on how far a walk runs ahead of who consumes it.
const (
	maxWalkers   = 8    // directories read at the same time
	maxAhead     = 1e5  // entries found and not yet consumed
	aheadOfTurn  = 64   // subdirectories of one directory that wait to be read
	maxDirsAhead = 4096 // directories that wait to be read, in all
)

// walk visits what lies beneath a directory, in the order of names, as
// filepath.WalkDir does. Directories are read ahead by several goroutines, each
// in its own time; only the visits are in order.
//
// It holds one descriptor for the whole tree and one for each directory that
// is being read. It follows no link; a directory that cannot be opened is
// counted and left.
type walk struct {
	top     Dir
	want    globSet // what is visited
	exclude globSet // what is not, nor anything beneath
	ignore  bool    // leave out what .gitignore names
	dirs    bool    // visit directories too
	links   bool    // visit links too; they are not followed
	each    func()  // called once for each directory
	skipped skipped // of the directories consumed so far
	queue   *walkQueue
	using   sync.WaitGroup // every goroutine that uses top
}

// skipped is what a search did not look at.
type skipped struct {
	ignoredFiles, ignoredDirs int
	links                     int
	special                   int // FIFOs, sockets, devices
	unreadable                int
	binary, tooLarge          int // of grep
}

func (s *skipped) add(o skipped) {
	s.ignoredFiles += o.ignoredFiles
	s.ignoredDirs += o.ignoredDirs
	s.links += o.links
	s.special += o.special
	s.unreadable += o.unreadable
	s.binary += o.binary
	s.tooLarge += o.tooLarge
}

// walkDir is one directory of a walk.
type walkDir struct {
	rel     string // from the top; "" is the top itself
	want    []globs.States
	exclude []globs.States
	rules   ignoreRules

	taken bool          // by a goroutine of the queue; guarded by its mu
	done  chan struct{} // closed when what follows is final
	items []walkItem
	skipped
}

// walkItem is something to visit, a directory to go down into, or both.
type walkItem struct {
	name  string
	typ   fs.FileMode
	match bool
	sub   *walkDir // nil: nothing beneath can match
}

// visitor is given one thing that is wanted: where it stands, from the top, its
// name and its type. more false ends the walk.
type visitor func(dir, name string, typ fs.FileMode) (more bool, err error)

// run calls visit for all that is wanted, in order. It returns when ctx is
// done, even while a directory does not answer.
func (w *walk) run(ctx context.Context, rules ignoreRules, visit visitor) error {
	root := &walkDir{want: w.want.start(), exclude: w.exclude.start(), rules: rules, done: make(chan struct{})}
	_, err := w.visitDir(ctx, root, visit)
	return err
}

// visitDir goes through one directory, which it has read first. The depth of
// the recursion is bounded by the length of a path.
func (w *walk) visitDir(ctx context.Context, d *walkDir, visit visitor) (more bool, err error) {
	w.queue.need(d)
	select {
	case <-d.done:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	w.queue.consumed(d)
	w.skipped.add(d.skipped)
	if w.each != nil {
		w.each()
	}
	ahead := w.queue.offer(d, 0, aheadOfTurn)
	for i := range d.items {
		item := &d.items[i]
		if item.match {
			if more, err := visit(d.rel, item.name, item.typ); err != nil || !more {
				return false, err
			}
		}
		if item.sub == nil {
			continue
		}
		ahead = w.queue.offer(d, ahead, 1)
		if more, err := w.visitDir(ctx, item.sub, visit); err != nil || !more {
			return false, err
		}
		item.sub = nil // what was visited is not kept
	}
	return true, nil
}

// read fills a directory: what is wanted of it, sorted, and what was left out.
func (w *walk) read(d *walkDir) {
	defer close(d.done)
	defer func() {
		if recover() != nil { // a fault of ours is not the end of the host
			d.unreadable++
		}
	}()
	dir := w.top
	if d.rel != "" {
		var err error
		if dir, err = w.top.OpenDir(d.rel); err != nil {
			d.unreadable++
			return
		}
		defer dir.Close()
	}
	entries, err := dir.ReadDir()
	if err != nil {
		d.unreadable++ // what was read of it counts
	}
	if w.ignore {
		d.rules = withIgnoreFiles(d.rules, dir, entries)
	}
	d.items = make([]walkItem, 0, min(len(entries), 1024))
	for _, e := range entries {
		if item, ok := w.item(d, e); ok {
			d.items = append(d.items, item)
		}
	}
	slices.SortFunc(d.items, func(a, b walkItem) int { return strings.Compare(a.name, b.name) })
}

// withIgnoreFiles adds the rules that begin in a directory, whose entries say
// whether there are any.
func withIgnoreFiles(rules ignoreRules, dir Dir, entries []fs.DirEntry) ignoreRules {
	var own, repository bool
	for _, e := range entries {
		switch e.Name() {
		case ".gitignore":
			own = e.Type().IsRegular()
		case ".git":
			repository = e.IsDir()
		}
	}
	if repository {
		rules = rules.readIgnore(dir, ".git/info/exclude")
	}
	if own {
		rules = rules.readIgnore(dir, ".gitignore")
	}
	return rules
}

// item decides about one entry.
func (w *walk) item(d *walkDir, e fs.DirEntry) (item walkItem, ok bool) {
	name, isDir := e.Name(), e.IsDir()
	if name == ".git" || w.exclude.accepts(d.exclude, name) {
		return item, false // .git is searched only when it is named
	}
	item = walkItem{name: name, typ: e.Type(), match: w.want.accepts(d.want, name)}
	var below []globs.States
	var alive bool
	if isDir {
		below, alive = w.want.step(d.want, name)
	}
	if !item.match && !alive {
		return item, false
	}
	if w.ignore && d.rules.ignored(name, isDir) {
		if isDir {
			d.ignoredDirs++
		} else {
			d.ignoredFiles++
		}
		return item, false
	}
	switch {
	case isDir:
		item.match = item.match && w.dirs
		if alive {
			item.sub = w.subOf(d, name, below)
		}
	case item.typ&fs.ModeSymlink != 0:
		if !w.links {
			d.links++
			return item, false
		}
	case !item.typ.IsRegular():
		d.special++
		return item, false
	}
	return item, item.match || item.sub != nil
}

func (w *walk) subOf(d *walkDir, name string, want []globs.States) *walkDir {
	sub := &walkDir{rel: joinRel(d.rel, name), want: want, rules: d.rules.enter(name), done: make(chan struct{})}
	sub.exclude, _ = w.exclude.step(d.exclude, name)
	return sub
}

// joinRel is the place of name in rel, of which "" is the top.
func joinRel(rel, name string) string {
	switch {
	case rel == "" || rel == ".":
		return name
	case name == "":
		return rel
	}
	return rel + "/" + name
}
