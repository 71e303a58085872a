package fileskills

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// maxPatchContent bounds all contents of a patch together, old and new.
const maxPatchContent = 2 * maxEditBytes

// patchPlan is a patch whose every effect is known, and none has happened.
type patchPlan struct {
	steps    []*patchStep
	dirs     []string // places of missing directories, parents first
	warnings []string
	size     int
	places   map[string]bool
}

// patchStep is one section of a patch.
type patchStep struct {
	file   *patchFile
	place  string      // that is written; "" for a deletion
	rep    Replacement // for place; nil until write, if the file is new
	going  Replacement // holds the file that goes away
	old    []byte      // content of place; nil if there is none
	new    []byte
	hash   string // of new
	was    string // of old, or of gone
	source string // place that goes away
	gone   []byte // its content
	before *text  // of an update
	edits  []edit

	written bool // place holds new
}

func (p *patchPlan) close() {
	for _, s := range p.steps {
		for _, rep := range []Replacement{s.rep, s.going} {
			if rep != nil {
				rep.Close()
			}
		}
		s.rep, s.going = nil, nil
	}
}

// planPatch reads everything that the patch is about and works out what it
// will be. Nothing is touched.
func (c *call) planPatch(ctx context.Context, files []patchFile) (*patchPlan, error) {
	p := &patchPlan{places: make(map[string]bool)}
	for i := range files {
		s := &patchStep{file: &files[i]}
		p.steps = append(p.steps, s)
		if err := c.planStep(ctx, p, s); err != nil {
			p.close()
			if errors.Is(err, errMoved) {
				return nil, err
			}
			err = c.explain(err, s.file.path)
			var e *Error
			if errors.As(err, &e) && e.Path == "" {
				e.Path = s.file.path
			}
			return nil, err
		}
	}
	return p, nil
}

func (c *call) planStep(ctx context.Context, p *patchPlan, s *patchStep) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var err error
	switch f := s.file; f.op {
	case patchAdd:
		if strings.Contains(f.added, "\x00") {
			return errNUL("the new file")
		}
		s.new = []byte(f.added)
		s.place, err = c.newPlace(p, f.path)
	case patchDelete:
		err = c.planRemoval(ctx, p, s)
	case patchUpdate:
		err = c.planUpdate(ctx, p, s)
	}
	if err != nil {
		return err
	}
	p.size += len(s.old) + len(s.new) + len(s.gone)
	if p.size > maxPatchContent {
		return fail(CodeTooLarge, "", "the files of the patch are larger than %d MiB together. Nothing was changed.", maxPatchContent>>20)
	}
	for _, place := range []string{s.place, s.source} {
		if place == "" {
			continue
		}
		if p.places[place] {
			return fail(CodeInvalidArgument, s.file.path, "patch line %d: the patch names %s twice. Nothing was changed.", s.file.line, shown(place)).
				hint("Put all hunks of a file into one section.")
		}
		p.places[place] = true
	}
	return nil
}

// newPlace is where a new file goes. What directories it lacks the patch
// remembers.
func (c *call) newPlace(p *patchPlan, unsafePath string) (string, error) {
	rep, err := c.fs.Replace(unsafePath, ReplaceOptions{MustBeNew: true, Parents: true})
	if err != nil {
		return "", err
	}
	defer rep.Close()
	var missing []string
	for dir := path.Dir(rep.Place()); dir != "."; dir = path.Dir(dir) {
		if _, err := c.fs.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append([]string{dir}, missing...)
	}
	p.dirs = append(p.dirs, missing...)
	return rep.Place(), nil
}

// planRemoval reads a file that goes away: a plain one, by its own name.
func (c *call) planRemoval(ctx context.Context, p *patchPlan, s *patchStep) error {
	name := shown(s.file.path)
	info, err := c.fs.Lstat(s.file.path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fail(CodeNotRegularFile, "", "%s is a symbolic link; a patch removes and moves plain files only. Nothing was changed.", name)
	}
	if err := c.denies(access.FSDelete, s.file.path); err != nil {
		return err
	}
	// Held as if it were to be replaced: what would refuse that later, when
	// there is no way back, refuses it now.
	if s.going, err = c.fs.Replace(s.file.path, ReplaceOptions{MustExist: true}); err != nil {
		s.going = nil
		return err
	}
	s.source = s.going.Place()
	if s.gone, err = readWhole(ctx, s.going.Old(), name); err != nil {
		return err
	}
	return c.guardPatch(ctx, s.source, s.gone, p)
}

func (c *call) planUpdate(ctx context.Context, p *patchPlan, s *patchStep) (err error) {
	f, name := s.file, shown(s.file.path)
	var raw []byte
	if f.moveTo != "" {
		if err = c.planRemoval(ctx, p, s); err != nil {
			return err
		}
		raw = s.gone
		if s.place, err = c.newPlace(p, f.moveTo); err != nil {
			return c.explain(err, f.moveTo)
		}
	} else {
		if s.rep, err = c.fs.Replace(f.path, ReplaceOptions{MustExist: true}); err != nil {
			s.rep = nil
			return err
		}
		if raw, err = readWhole(ctx, s.rep.Old(), name); err != nil {
			return err
		}
		if err = c.guardPatch(ctx, s.rep.Place(), raw, p); err != nil {
			return err
		}
		s.place, s.old = s.rep.Place(), raw
	}
	if s.new = raw; len(f.hunks) == 0 {
		return nil // a move, and no more
	}
	if s.before, err = readText(ctx, name, raw); err != nil {
		return err
	}
	if s.edits, err = s.before.hunks(ctx, f.hunks); err != nil {
		return err
	}
	if s.new, err = s.before.apply(ctx, s.edits); err != nil {
		return err
	}
	if bytes.Equal(s.new, raw) && f.moveTo == "" {
		return fail(CodeNoChange, "", "%s already is as the patch would leave it. Nothing was changed.", name)
	}
	return nil
}

// guardPatch asks the guard about a file that is changed or removed.
func (c *call) guardPatch(ctx context.Context, place string, raw []byte, p *patchPlan) error {
	if c.set.guard == GuardOff || c.set.guard == GuardChanged {
		return nil
	}
	hash, err := hashSoon(ctx, raw)
	if err != nil {
		return err
	}
	warning, err := c.checkSeen(place, hash)
	if warning != "" {
		p.warnings = append(p.warnings, warning)
	}
	return err
}

// record is what the journal must know.
func (p *patchPlan) record(ctx context.Context) (record, error) {
	r := record{Dirs: p.dirs}
	for _, s := range p.steps {
		if s.place != "" {
			w := recordWrite{Place: s.place, old: s.old}
			var err error
			if w.New, err = digestOf(ctx, s.new); err != nil {
				return record{}, err
			}
			if s.rep != nil {
				old, err := digestOf(ctx, s.old)
				if err != nil {
					return record{}, err
				}
				w.Old, s.was = &old, old.Hash
			}
			s.hash = w.New.Hash
			r.Writes = append(r.Writes, w)
		}
		if s.source != "" {
			gone, err := digestOf(ctx, s.gone)
			if err != nil {
				return record{}, err
			}
			s.was = gone.Hash
			r.Removals = append(r.Removals, recordRemoval{s.source, gone})
		}
	}
	return r, nil
}

// write makes every new content ready, and then puts them in place one after
// the other. A file that is not what it was when it was read is errMoved.
func (p *patchPlan) write(ctx context.Context, f FS) error {
	for _, s := range p.steps {
		if s.place == "" {
			continue
		}
		if s.rep == nil {
			o := ReplaceOptions{MustBeNew: true, Parents: true}
			if s.going != nil {
				o.Like = s.going.Old()
			}
			rep, err := f.Replace(s.place, o)
			if errors.Is(err, fs.ErrExist) {
				return errMoved
			}
			if err != nil {
				return err
			}
			if s.rep = rep; rep.Place() != s.place {
				return errMoved
			}
		}
		if err := writeWhole(ctx, s.rep, s.new); err != nil {
			return err
		}
		if len(s.new) == 0 { // an empty file is written, too
			if _, err := s.rep.Write(nil); err != nil {
				return err
			}
		}
	}
	for _, s := range p.steps {
		var err error
		switch {
		case s.place == "":
		case s.rep.Old() != nil:
			err = commit(ctx, s.rep, s.old)
		default:
			err = s.rep.Commit(ctx, nil)
			if errors.Is(err, fs.ErrExist) {
				err = errMoved
			}
		}
		if err != nil {
			return err
		}
		s.written = s.place != ""
	}
	return p.sourcesStand(ctx, f)
}

// sourcesStand makes sure, before there is no way back, that what will be
// removed is what was read.
func (p *patchPlan) sourcesStand(ctx context.Context, f FS) error {
	for _, s := range p.steps {
		if s.source == "" {
			continue
		}
		now, err := f.Open(s.source)
		if errors.Is(err, fs.ErrNotExist) {
			return errMoved
		}
		if err != nil {
			return err
		}
		same, err := sameContent(ctx, now, s.gone)
		now.Close()
		if err != nil {
			return err
		}
		if !same {
			return errMoved
		}
	}
	return nil
}

// diff is what the step does to text.
func (s *patchStep) diff() (diff string, added, removed int) {
	switch {
	case s.file.op == patchAdd:
		return diffTexts(s.place, nil, s.new)
	case s.before != nil:
		return diffEdits(s.place, s.before.lf, s.edits)
	case s.file.op == patchDelete:
		return fmt.Sprintf("[%s deleted]\n", shown(s.source)), 0, 0
	}
	return "", 0, 0
}
