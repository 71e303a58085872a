package permission

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
	"github.com/pinfold-dev/pinfold/internal/policies"
)

// Bounds of a search. Who writes the globs may have made the tree as well.
const (
	maxVisits    = 4_000_000 // names looked at; one of many globs counts as many, see cost
	maxFound     = 50_000    // files
	maxFindDepth = 256       // directories within each other
	readNames    = 1024      // of a directory at a time
)

var (
	errManyVisits = errors.New("the globs take too many files and directories to search: name directories")
	errManyFound  = fmt.Errorf("the globs cover more than %d files", maxFound)
	errFindDepth  = fmt.Errorf("directories are nested deeper than %d", maxFindDepth)
)

// find is policies.Find.
func find(fsys fs.FS, list []string, kinds ...policies.Kind) (found []policies.Found, some []bool) {
	f := finder{fsys: fsys, kinds: kinds, left: maxVisits}
	return f.all(list)
}

func (f *finder) all(list []string) (found []policies.Found, some []bool) {
	f.some, f.found = make([]bool, len(list)), map[string]findOf{}
	groups := map[string][]liveGlob{}
	var bases []string
	for i, text := range list {
		pat, err := parsePattern(text, false)
		if err != nil {
			continue
		}
		base := literalHead(pat)
		if groups[base] == nil {
			bases = append(bases, base)
		}
		rest := globs.Of(pat.Parts()[pat.Literals():])
		groups[base] = append(groups[base], liveGlob{nth: i, json: strings.HasSuffix(text, ".json"), outright: pat.isPath(),
			Glob: rest, at: rest.Start(), covered: rest.Len() == 0})
	}
	for _, base := range bases {
		f.search(base, groups[base])
	}
	for _, one := range f.found {
		found = append(found, one.Found)
	}
	slices.SortFunc(found, func(a, b policies.Found) int {
		return cmp.Or(cmp.Compare(f.found[a.Name].nth, f.found[b.Name].nth), comparePlaces(a.Name, b.Name))
	})
	return found, f.some
}

// comparePlaces orders places as a walk does: what lies in a directory comes
// right after it.
func comparePlaces(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// finder is one search.
type finder struct {
	fsys  fs.FS
	kinds []policies.Kind
	some  []bool
	found map[string]findOf // by name
	left  int               // of maxVisits
}

// findOf is what was found, and by which pattern.
type findOf struct {
	policies.Found
	nth int
}

// liveGlob is a pattern that may cover what lies in a directory.
type liveGlob struct {
	globs.Glob // what follows its literal directory
	at         globs.States
	nth        int
	json       bool // it asks for *.json
	outright   bool // it names one path
	covered    bool // it covers the directory
}

// search looks at what a pattern begins with, and beneath it.
func (f *finder) search(base string, live []liveGlob) {
	info, err := fs.Stat(f.fsys, base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		f.failed(base, err, live)
	case info.IsDir():
		f.directory(base, live, 0)
	case info.Mode().IsRegular():
		for _, g := range live {
			if g.covered && g.outright {
				f.add(base, g, f.kinds[0])
			}
		}
	}
}

// directory looks at the names in a directory. It may be as large as it likes:
// only what is found and directories are kept.
func (f *finder) directory(name string, live []liveGlob, depth int) {
	if depth > maxFindDepth {
		f.failed(name, errFindDepth, live)
		return
	}
	var dirs []string
	parts, steps := 0, 0
	for _, g := range live {
		parts, steps = parts+g.Len(), steps+g.Steps()-g.Len()
	}
	err := f.names(name, func(e fs.DirEntry) error {
		if f.left -= cost(parts, steps, e.Name()); f.left < 0 {
			return errManyVisits
		}
		switch {
		case !e.IsDir():
			return f.file(path.Join(name, e.Name()), e, live)
		case e.Name() != ".git" && e.Name() != "node_modules":
			dirs = append(dirs, e.Name())
		}
		return nil
	})
	if err != nil {
		f.failed(name, err, live)
	}
	for _, dir := range dirs {
		if down := descend(live, dir); len(down) > 0 && f.left >= 0 {
			f.directory(path.Join(name, dir), down, depth+1)
		}
	}
}

// cost is what a name counts for: once, and for as much work as it is to match
// it with components of patterns, and with the instructions of their wildcards.
func cost(parts, steps int, name string) int { return 1 + parts/32 + steps*len(name)/256 }

// names gives the names in a directory, some at a time, until each fails.
func (f *finder) names(dir string, each func(fs.DirEntry) error) error {
	d, err := f.fsys.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // only read
	list, ok := d.(fs.ReadDirFile)
	if !ok {
		return &fs.PathError{Op: "readdir", Path: dir, Err: errors.ErrUnsupported}
	}
	for {
		entries, err := list.ReadDir(readNames)
		for _, e := range entries {
			if err := each(e); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// descend are the patterns that may cover something beneath a directory.
func descend(live []liveGlob, name string) []liveGlob {
	var down []liveGlob
	for _, g := range live {
		if !g.covered {
			at := globs.Step(g.Glob, g.at, name)
			g.covered, g.at = g.Matched(at), g.Beneath(at)
		}
		if g.covered || g.at != 0 {
			down = append(down, g)
		}
	}
	return down
}

// file keeps a file that some pattern covers.
func (f *finder) file(name string, e fs.DirEntry, live []liveGlob) error {
	looked, base := false, e.Name()
	var kinds [2]policies.Kind // as patterns without and with json see it
	for _, g := range live {
		if !g.covered && !globs.Accepts(g.Glob, g.at, base) {
			continue
		}
		if !looked {
			looked = true
			if !isFile(f.fsys, name, e) { // first of all: opening a FIFO waits
				return nil
			}
			kinds = [2]policies.Kind{kindOf(f.fsys, name, false), kindOf(f.fsys, name, true)}
		}
		kind := kinds[0]
		if g.json {
			kind = kinds[1]
		}
		f.add(name, g, kind)
	}
	if len(f.found) > maxFound {
		f.left = -1
		return errManyFound
	}
	return nil
}

func (f *finder) wants(kind policies.Kind) bool { return slices.Contains(f.kinds, kind) }

// add keeps a file, for the first pattern that covers it.
func (f *finder) add(name string, g liveGlob, kind policies.Kind) {
	if !f.wants(kind) {
		return
	}
	f.some[g.nth] = true
	if known, ok := f.found[name]; !ok || g.nth < known.nth {
		f.found[name] = findOf{policies.Found{Name: name, Kind: kind}, g.nth}
	}
}

// failed keeps what could not be looked into.
func (f *finder) failed(name string, err error, live []liveGlob) {
	nth := live[0].nth
	for _, g := range live {
		f.some[g.nth], nth = true, min(nth, g.nth) // what it covers is not known
	}
	if _, ok := f.found[name]; !ok {
		f.found[name] = findOf{policies.Found{Name: name, Err: err}, nth}
	}
}

// literalHead is the directory in which a pattern begins to be one, or the path
// that it is.
func literalHead(pat pattern) string {
	return path.Clean(pattern{globs.Of(pat.Parts()[:pat.Literals()])}.String())
}

// isFile is true of regular files, of links to them, and of links that lead
// nowhere: reading those says what is wrong.
func isFile(fsys fs.FS, name string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	info, err := fs.Stat(fsys, name)
	return err != nil || info.Mode().IsRegular()
}

// kindOf is what a file seems to be, 0 for neither. json says that *.json is
// a policy.
func kindOf(fsys fs.FS, name string, json bool) policies.Kind {
	switch path.Ext(name) {
	case ".yaml", ".yml":
		if path.Base(name) != policies.ProjectFile {
			return policies.PolicyFile
		}
	case ".json":
		if json {
			return policies.PolicyFile
		}
	case ".md":
		begin, err := readAll(fsys, name, 2)
		if err != nil || string(begin) == "---" {
			return policies.AgentFile
		}
	}
	return 0
}
