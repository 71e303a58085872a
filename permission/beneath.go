package permission

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/globs"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Beneath is the policy for a project of its own in a directory of this one, whose paths
// are relative to that directory. It says the same about each place there, and nothing
// about others. What was granted is no part of it. dir is a slash-separated path
// relative to this policy's root.
func (p *Policy) Beneath(dir string) (*Policy, error) {
	dir = path.Clean(dir)
	if dir == "." {
		return p, nil
	}
	if placeKind(dir) != aPlace {
		return nil, fmt.Errorf("the directory '%s' does not lie in the project", pathresolver.EscapePath(dir))
	}
	for _, r := range p.always.rules {
		_, all, err := patternBeneath(r.text, dir, true)
		if err != nil {
			return nil, err
		}
		if all || slices.Contains(strings.Split(globs.Fold(dir), "/"), ".git") {
			return nil, fmt.Errorf("the directory '%s' is protected: nobody works there", pathresolver.EscapePath(dir))
		}
	}
	held, err := p.Resolver(p.root)
	if err != nil {
		return nil, err
	}
	var groups []group
	var sources []*Source
	for _, g := range p.groups {
		var layers []*layer
		for _, l := range g.layers {
			src, err := l.src.beneath(dir)
			if err != nil {
				return nil, err
			}
			layers, sources = append(layers, compileLayer(src)), append(sources, src)
		}
		groups = append(groups, newGroup(layers, g.sealed))
	}
	if !held.Config.Git {
		// Who may not commit in its own project has nobody do it in a part of it, though
		// .git there is in no list of places that are written apart.
		src, err := FromDocument("beneath", Document{Version: 1, Name: "beneath", FS: &FS{Protect: []string{".git"}}})
		if err != nil {
			return nil, err
		}
		groups = append(groups, newGroup([]*layer{compileLayer(src)}, false))
	}
	return newPolicy(path.Join(p.root, dir), alwaysProtected(sources), groups), nil
}

// beneath is a document about the places in a directory.
func (s *Source) beneath(dir string) (*Source, error) {
	doc := s.Document
	moved := &Source{File: s.File, Document: doc, at: map[string]access.Position{}}
	for part, at := range s.at {
		if !strings.HasPrefix(part, "fs.") && !strings.Contains(part, ".allowed_paths[") {
			moved.at[part] = at
		}
	}
	if rest, in := strings.CutPrefix(s.File, dir+"/"); in {
		moved.File = rest
	}
	list := func(part string, texts []string, folded bool) ([]string, error) {
		if at, is := s.at[part]; is {
			moved.at[part] = at
		}
		if texts == nil {
			return nil, nil
		}
		out := []string{} // none is not the same as no list
		for i, text := range texts {
			these, all, err := patternBeneath(text, dir, folded)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.position(part), err)
			}
			if all {
				these = []string{"."}
			}
			for _, one := range these {
				if at, is := s.at[part+"["+strconv.Itoa(i)+"]"]; is {
					moved.at[part+"["+strconv.Itoa(len(out))+"]"] = at
				}
				out = append(out, one)
			}
		}
		return out, nil
	}
	if doc.FS != nil {
		fs := *doc.FS
		for _, l := range []struct {
			part   string
			list   *[]string
			folded bool
		}{
			{"fs.read", &fs.Read, false}, {"fs.write", &fs.Write, false}, {"fs.ask_read", &fs.AskRead, true}, {"fs.ask_write", &fs.AskWrite, true},
			{"fs.hide", &fs.Hide, true}, {"fs.mask", &fs.Mask, true}, {"fs.protect", &fs.Protect, true},
		} {
			var err error
			if *l.list, err = list(l.part, *l.list, l.folded); err != nil {
				return nil, err
			}
			if l.folded && len(*l.list) == 0 {
				*l.list = nil
			}
			if l.part == "fs.hide" && slices.Contains(*l.list, ".") {
				return nil, fmt.Errorf("%s: the directory '%s' is hidden", s.position(l.part), pathresolver.EscapePath(dir))
			}
		}
		moved.Document.FS = &fs
	}
	if doc.Tools != nil {
		tools := make(map[string]Tool, len(doc.Tools))
		for name, t := range doc.Tools {
			var err error
			if t.AllowedPaths, err = list(join("tools", name)+".allowed_paths", t.AllowedPaths, false); err != nil {
				return nil, err
			}
			tools[name] = t
		}
		moved.Document.Tools = tools
	}
	return moved, nil
}

// patternBeneath is what a path or glob covers in a directory, as patterns that are
// relative to it. all is everything, the directory itself included.
func patternBeneath(text, dir string, folded bool) (list []string, all bool, err error) {
	p, err := parsePattern(text, folded)
	if err != nil {
		return nil, false, err
	}
	if p.Len() == 0 {
		return nil, true, nil
	}
	left := [][]globs.Part{p.Parts()}
	for name := range strings.SplitSeq(dir, "/") {
		if folded {
			name = globs.Fold(name)
		}
		var next [][]globs.Part
		for _, parts := range left {
			for len(parts) > 0 && isAnyDepth(parts[0]) {
				next, parts = append(next, parts), parts[1:]
			}
			switch {
			case len(parts) == 0:
				return nil, true, nil
			case globs.Match(&parts[0], name) && len(parts) == 1:
				return nil, true, nil
			case globs.Match(&parts[0], name):
				next = append(next, parts[1:])
			}
		}
		left = next
	}
	for _, parts := range left {
		if slices.IndexFunc(parts, func(part globs.Part) bool { return !isAnyDepth(part) }) < 0 {
			return nil, true, nil
		}
		if one := globs.Of(parts).String(); !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list, false, nil
}
