package permission

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Options are what the caller adds to a document.
type Options struct {
	// Root is the project's directory as messages name it; absolute write
	// paths are taken relative to it, by their text. Empty means ".".
	Root string

	// FS is where a file that a document extends is read, beside that
	// document. nil means that only presets and profiles can be extended.
	FS fs.FS

	// Caller is one more layer of the same agent, the innermost: what its caller gives
	// it, such as the write paths of a preset that lists none. It only narrows a list
	// that a document has. nil adds nothing.
	Caller *Document

	// Open compiles a document whose write paths are still to come from its caller, so
	// that it can be examined. Without Open that is an error.
	Open bool

	found *[]Problem // Examine's: what is wrong is put here, and the rest goes on
}

// writeRequiredError says that a preset must be given a write path.
type writeRequiredError struct{ preset string }

func (e *writeRequiredError) Error() string {
	return fmt.Sprintf("preset '%s' needs at least one allowed_write_path", e.preset)
}

// Load reads the document at name in fsys, with what it extends, and compiles it. The
// documents become protected: no agent writes the policy in force. For that fsys must
// stand for the project's root.
func Load(fsys fs.FS, name string, opt Options) (*Policy, error) {
	src, err := read(fsys, name)
	if err != nil {
		return nil, err
	}
	opt.FS = fsys
	return Compile(src, opt)
}

// Compile makes a policy of a document and what it extends. What neither
// grants is denied.
func Compile(src *Source, opt Options) (*Policy, error) {
	return compileWith(src, opt)
}

// compileWith is Compile with further layers of the same agent before the
// caller's.
func compileWith(src *Source, opt Options, more ...*Source) (*Policy, error) {
	chain, err := extended(src, opt.FS)
	if opt.tolerates(err) {
		chain, err = []*Source{src.withoutBase()}, nil
	}
	if err != nil {
		return nil, err
	}
	chain = append(chain, more...)
	if opt.Caller != nil {
		doc := *opt.Caller
		doc.Version = 1
		caller, err := FromDocument(callerFile, doc)
		if err != nil {
			return nil, asWritePaths(err)
		}
		chain = append(chain, caller)
	}
	var layers []*layer
	for _, s := range chain {
		rooted, err := s.rooted(opt.Root)
		if err != nil && !opt.tolerates(err) {
			return nil, err
		}
		layers = append(layers, compileLayer(rooted))
	}
	for _, s := range chain {
		if f := s.Document.FS; f != nil && f.WriteRequired && !opt.Open && !slices.ContainsFunc(layers, grantsWrite) {
			return nil, &writeRequiredError{preset: s.name()}
		}
	}
	return newPolicy(opt.Root, alwaysProtected(chain), []group{newGroup(layers, true)}), nil
}

// asWritePaths is what is wrong with a caller's document, in the words that are used
// where write paths are given without one.
func asWritePaths(err error) error {
	var de *DocumentError
	if errors.As(err, &de) {
		for i, p := range de.Problems {
			if rest, is := strings.CutPrefix(p.Message, p.Path+": "); is && strings.HasPrefix(p.Path, "fs.write[") {
				de.Problems[i].Message = "allowed_write_path " + rest
			}
		}
	}
	return err
}

func grantsWrite(l *layer) bool { return l.write != nil && len(l.write.rules) > 0 }

// extended returns the document after all that it extends, outermost first.
func extended(src *Source, fsys fs.FS) ([]*Source, error) {
	chain := []*Source{src}
	for at := src; at.Document.Extends != ""; chain = append(chain, at) {
		name := at.Document.Extends
		refuse := func(message, hint string) error {
			return &DocumentError{[]Problem{{Position: at.position("extends"), Severity: pathresolver.SeverityError, Code: "extends", Path: "extends", Message: message, Hint: hint}}}
		}
		if len(chain) == maxExtends {
			return nil, refuse(fmt.Sprintf("more than %d documents extend each other", maxExtends), "")
		}
		base, err := builtin(name)
		if base == nil && err == nil {
			file := path.Join(path.Dir(at.File), name)
			if fsys != nil && !isBuiltin(at) && (file == ".." || strings.HasPrefix(file, "../")) {
				return nil, refuse(fmt.Sprintf("extends: '%s' lies outside the project, where nothing is read", name), "work in the project's own directory, or name it with -C")
			}
			if fsys == nil || !fs.ValidPath(file) || isBuiltin(at) {
				return nil, refuse(fmt.Sprintf("extends: '%s' is no preset and no profile", name), didyoumean.Hint(name, Builtins()))
			}
			base, err = read(fsys, file)
		}
		if err != nil {
			if _, bad := err.(*DocumentError); bad {
				return nil, err
			}
			return nil, refuse(fmt.Sprintf("extends: '%s' cannot be read: %s", name, reason(err)), didyoumean.Hint(name, Builtins()))
		}
		if slices.ContainsFunc(chain, func(s *Source) bool { return s.File == base.File && isBuiltin(s) == isBuiltin(base) }) {
			return nil, refuse(fmt.Sprintf("extends: '%s' extends itself", name), "")
		}
		at = base
	}
	slices.Reverse(chain)
	return chain, nil
}

// rooted is the document with its write paths relative to the root. One that leads out
// of it is a path_outside problem.
func (s *Source) rooted(root string) (*Source, error) {
	if s.Document.FS == nil || !slices.ContainsFunc(s.Document.FS.Write, leadsOut) {
		return s, nil
	}
	if root == "" {
		root = "."
	}
	files := *s.Document.FS
	files.Write = slices.Clone(files.Write)
	ps := problems{file: s.File}
	for i, wp := range files.Write {
		if !leadsOut(wp) {
			continue
		}
		part := fmt.Sprintf("fs.write[%d]", i)
		rel, ok := beneath(root, wp)
		if _, err := parsePattern(rel, false); !ok || err != nil || leadsOut(wp[1:]) {
			hint := "" // as pathresolver has it
			if slices.Contains(strings.Split(wp, "/"), "..") {
				hint = `".." is not allowed in a write path`
			}
			ps.add(Problem{Position: s.position(part), Code: "path_outside", Path: part,
				Message: fmt.Sprintf("allowed_write_path '%s' is outside sandbox root '%s'", pathresolver.EscapePath(wp), pathresolver.EscapePath(root)),
				Hint:    hint})
			continue
		}
		files.Write[i] = rel
	}
	moved := *s
	moved.Document.FS = &files
	return &moved, ps.err()
}

// alwaysProtected are the places that no policy opens for writing: what pathresolver
// protects by itself, and the documents in force.
func alwaysProtected(chain []*Source) *patternSet {
	places := pathresolver.DefaultProtected()
	for _, s := range chain {
		if !isBuiltin(s) && s.File != callerFile && fs.ValidPath(s.File) {
			places = append(places, s.File)
		}
	}
	slices.Sort(places)
	places = slices.Compact(places)
	return (&layer{name: "always", src: &Source{File: "always"}}).patterns("protect", places, true)
}
