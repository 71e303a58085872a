package leftover

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/internal/trusted"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Bounds on what the end of a run costs.
const (
	maxItems = 10_000  // that are told,
	maxText  = 4 << 20 // and bytes of what is told of them
	maxMoved = 20_000  // names that are looked at in directories that were moved
)

// Left is what a run left, sorted.
type Left struct {
	Items []Item
	// Omitted is how many more there were, or may have been: places for which
	// there was no room, at most.
	Omitted uint64
}

// Add adds what was left in another view.
func (l *Left) Add(other Left) {
	l.Items = append(l.Items, other.Items...)
	l.Omitted += other.Omitted
	sortItems(l.Items)
	l.Items = slices.Compact(l.Items)
	told, size := 0, 0
	for ; told < min(len(l.Items), maxItems); told++ {
		i := &l.Items[told]
		if size += len(i.Path) + len(i.Leads) + len(i.Detail); size > maxText {
			break
		}
	}
	l.Omitted += uint64(len(l.Items) - told)
	l.Items = l.Items[:told]
}

// Examine looks what became of the places of a record: one that is gone, or is
// something else now, is not told. r is the resolver of the view. It reads as r
// may, and does not wait for FIFOs. The project may change meanwhile. index says that
// the index of the project's repository was replaced, and is to be looked at.
func (r *Record) Examine(res *pathresolver.Resolver, index bool) Left {
	e := &examiner{r: res, trusted: r.trusted, moved: maxMoved}
	type seen struct {
		place string
		notes note
	}
	var all []seen
	r.each(func(place string, notes note) { all = append(all, seen{place, notes}) })
	slices.SortFunc(all, func(a, b seen) int { return strings.Compare(a.place, b.place) })
	if index {
		e.staged()
	}
	for _, s := range all { // a directory before what lies in it
		e.look(s.place, s.notes)
	}
	left := Left{Omitted: r.Dropped() + e.omitted}
	left.Add(Left{Items: e.items})
	return left
}

type examiner struct {
	r       *pathresolver.Resolver
	trusted *trusted.Set
	items   []Item
	moved   int      // names that may still be looked at
	repos   []string // git directories that were told
	omitted uint64
}

func (e *examiner) add(place string, item Item) {
	item.Path = e.path(place)
	e.items = append(e.items, item)
}

// path is a place as an absolute path.
func (e *examiner) path(place string) string {
	return filepath.Join(e.r.Root(), filepath.FromSlash(place))
}

// look tells what is at a place of what was noted there.
func (e *examiner) look(place string, notes note) {
	info, err := e.r.Lstat(place)
	if err != nil {
		e.unseen(err)
		return
	}
	if notes&isRepository != 0 {
		e.repository(place, info)
	}
	if notes&isOperation != 0 {
		e.operation(place)
	}
	e.lookAt(place, notes, info)
	if notes&isMoved != 0 && info.IsDir() {
		e.walk(place)
	}
}

// unseen counts a place that cannot be looked at, such as one in a directory that an
// agent has closed. A place that is gone does not count, nor does a hidden one, which
// no agent can make.
func (e *examiner) unseen(err error) {
	if !Gone(err) {
		e.omitted++
	}
}

// Gone reports whether an error says that nothing is at a place.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// walk looks at what lies in a directory that was moved: names may mean something
// in their new place, and links lead elsewhere from it.
func (e *examiner) walk(dir string) {
	list, err := e.r.ReadDir(dir)
	if err != nil {
		e.unseen(err)
		return
	}
	for i, entry := range list {
		if e.moved--; e.moved < 0 {
			e.omitted += uint64(len(list) - i)
			return
		}
		place := path.Join(dir, entry.Name())
		notes := isLink | isLater | isByItself
		if isPackageDir(entry.Name()) || isDotGit(entry.Name()) {
			continue // noted when it was made, or it was there before
		}
		if info, err := e.r.Lstat(place); err == nil {
			e.lookAt(place, notes, info)
		} else {
			e.unseen(err)
		}
		if entry.IsDir() {
			e.walk(place)
		}
	}
}

// lookAt tells what there is at a place, but for git's.
func (e *examiner) lookAt(place string, notes note, info fs.FileInfo) {
	if slices.ContainsFunc(e.repos, func(dir string) bool { return strings.HasPrefix(place, dir+"/") }) {
		notes &= isLink | isSpecial // its hooks are told with it
	}
	if t := e.trusted.Covers(place); notes&isByItself != 0 && t != nil && !info.IsDir() {
		e.add(place, Item{Kind: ByItself, Program: t.Program, Detail: t.Why})
		notes &^= isLater | isExecutable
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		if notes&isLink != 0 {
			e.link(place)
		}
	case mode&fs.ModeNamedPipe != 0:
		e.add(place, Item{Kind: FIFO})
	case mode&fs.ModeSocket != 0:
		e.add(place, Item{Kind: Socket})
	case mode.IsDir():
		if notes&isLater != 0 && isPackageDir(path.Base(place)) {
			e.add(place, Item{Kind: Packages})
		}
	case !mode.IsRegular():
	case notes&isLater != 0:
		if l, found := trusted.RunsLaterAt(place); found {
			e.add(place, Item{Kind: Later, Program: l.Program, When: l.When})
			break
		}
		fallthrough
	default:
		if notes&isExecutable != 0 && mode&0o111 != 0 {
			e.add(place, Item{Kind: Executable})
		}
	}
}

// link reports a link that leads out of the write paths, also over other links, and
// also if nothing is at its end yet: writing to it would make what it names. A link
// that can lead nowhere, such as one to itself, is not reported.
func (e *examiner) link(place string) {
	target, err := e.r.Readlink(place)
	if err != nil {
		e.unseen(err)
		return
	}
	if !filepath.IsAbs(target) {
		// Not joined, which would take "link/.." for nothing.
		target = filepath.Dir(e.path(place)) + string(filepath.Separator) + target
	}
	to, err := hostpath.Follow(target)
	switch {
	case errors.Is(err, fs.ErrPermission):
		to.Real = filepath.Clean(target) // as far as can be told
	case err != nil:
		return
	}
	for _, w := range e.r.WritePaths() {
		if _, in := hostpath.Beneath(to.Real, e.path(w)); in {
			return
		}
	}
	e.add(place, Item{Kind: Link, Leads: to.Real})
}
