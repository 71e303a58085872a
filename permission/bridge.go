package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Held is a policy as the path resolver holds it, on every surface.
type Held struct {
	// Config has Root and everything that a policy says about files. It knows no
	// grants: what they allow is still refused here, as something to be asked for.
	Config pathresolver.Config

	// Positions says where the entries stand, by the names that
	// pathresolver.Violation has for them: "write_paths[0]", "hide[2]".
	// Config.Origins says the same as text, with the rule.
	Positions map[string]access.Position

	// NoView is set where the policy allows files outside the project without asking:
	// there is nothing to confine (yolo).
	NoView bool

	rules         map[string]*rule // behind the entries, by the same names
	reads, writes []fileList       // the lists whose common part the read and write paths are
}

// unheldError says that a view or the skills cannot enforce a rule, except by allowing
// more than it does, which is never done.
type unheldError struct {
	access.Position
	rule    string // layer:path
	message string
	hint    string
}

func (e *unheldError) Error() string {
	return fmt.Sprintf("%s: %s (%s)", e.Position, e.message, e.hint)
}

// Resolver returns what the path resolver needs to hold the policy for the
// project at root: never more than Check allows. Globs among read and write
// paths that no list of paths can express are an error.
func (p *Policy) Resolver(root string) (Held, error) {
	h := Held{Config: pathresolver.Config{Root: root}, Positions: map[string]access.Position{}, rules: map[string]*rule{}}
	var asks, readAsks []asking
	h.reads, readAsks = p.fileLists(readPart)
	h.writes, asks = p.fileLists(writePart)
	for _, l := range p.layers() {
		if fs := l.src.Document.FS; fs != nil {
			h.add("hide", &h.Config.Hide, l.grants("fs.hide", fs.Hide))
			h.add("mask", &h.Config.Mask, l.grants("fs.mask", fs.Mask))
			h.add("protect", &h.Config.Protect, l.grants("fs.protect", fs.Protect))
		}
	}
	h.addAsks(p, readAsks, asks)

	read, write := common(h.reads, true), common(h.writes, false)
	if len(read) == 0 {
		return Held{}, &unheldError{Position: p.begin(), message: "the policy lets nothing be read", hint: "add 'extends: sandboxed', or 'fs: {read: [.]}'"}
	}
	if !slices.ContainsFunc(read, grant.isAll) {
		if err := h.addPaths("read", "read_paths", &h.Config.ReadPaths, read); err != nil {
			return Held{}, err
		}
		write = intersect(read, write, false)
	}
	var asked patternList
	for _, a := range asks {
		asked.add(a.pattern)
	}
	write = slices.DeleteFunc(write, func(w grant) bool { return asked.covers(w.pattern) }) // only to be asked for
	if i := slices.IndexFunc(write, func(w grant) bool { return w.pattern.String() == ".git" }); i >= 0 {
		h.Config.Git, h.rules["git"] = true, write[i].rule
		write = slices.Delete(write, i, i+1)
	}
	if err := h.addPaths("write", "write_paths", &h.Config.WritePaths, write); err != nil {
		return Held{}, err
	}
	h.addAlways(p)
	h.NoView = p.outside() == allowed
	h.NameFiles(func(file string) string { return file })
	return h, nil
}

// add adds globs that take something away.
func (h *Held) add(field string, to *[]string, globs []grant) {
	for _, g := range globs {
		text := g.rule.text
		if g.isAll() {
			text = "**"
		}
		h.rules[fmt.Sprintf("%s[%d]", field, len(*to))] = g.rule
		*to = append(*to, text)
	}
}

// addAsks adds what may be done only after asking. Where nobody is to be asked it is
// never allowed.
func (h *Held) addAsks(p *Policy, read, write []asking) {
	for _, a := range read {
		if p.approvalsOff() {
			h.add("hide", &h.Config.Hide, []grant{a.grant})
		} else {
			h.add("ask_read", &h.Config.AskRead, []grant{a.grant})
		}
	}
	for _, a := range write {
		if p.approvalsOff() {
			h.add("protect", &h.Config.Protect, []grant{a.grant})
		} else {
			h.add("ask_write", &h.Config.AskWrite, a.within(h.writes))
		}
	}
}

// addPaths adds paths that allow something.
func (h *Held) addPaths(noun, field string, to *[]string, paths []grant) error {
	for _, g := range paths {
		if !g.pattern.isPath() {
			return &unheldError{Position: g.rule.at, rule: g.rule.id,
				message: fmt.Sprintf("%s glob '%s' cannot be held by a view", noun, g.rule.text), hint: "name directories or files; a trailing /** is fine"}
		}
		h.rules[fmt.Sprintf("%s[%d]", field, len(*to))] = g.rule
		*to = append(*to, g.pattern.String())
	}
	return nil
}

// addAlways adds the places that no policy opens for writing.
func (h *Held) addAlways(p *Policy) {
	h.Config.Unprotect = slices.Clone(p.open)
	h.rules["protect"] = &rule{id: "always:protect", at: access.Position{File: "built in"}}
	for _, r := range p.always.rules {
		if !contains(pathresolver.DefaultProtected(), r.text) {
			h.rules[fmt.Sprintf("protect[%d]", len(h.Config.Protect))] = &rule{id: "always:protect", at: access.Position{File: "a policy in force"}}
			h.Config.Protect = append(h.Config.Protect, escapeGlob(r.text))
		}
	}
}

// NameFiles replaces the names of files in Positions and Config.Origins by what name
// makes of them, so that somebody who reads a refusal can open the file.
func (h *Held) NameFiles(name func(file string) string) {
	text := func(r *rule) string {
		if r == nil {
			return ""
		}
		at := r.at
		if r.layer != "" { // not one of ours
			at.File = name(at.File)
		}
		return access.Decision{Rule: r.id, Source: at}.Origin()
	}
	h.Config.Origins = resolved.Origins{Entries: map[string]string{}}
	for field, r := range h.rules {
		if h.Config.Origins.Entries[field] = text(r); r.at.Line > 0 {
			at := r.at
			at.File = name(at.File)
			h.Positions[field] = at
		}
	}
	for _, l := range h.reads {
		h.Config.Origins.Read = append(h.Config.Origins.Read, resolved.OriginList{Paths: l.texts(), Origin: text(l.rule)})
	}
	for _, l := range h.writes {
		h.Config.Origins.Write = append(h.Config.Origins.Write, resolved.OriginList{Paths: l.texts(), Origin: text(l.rule)})
	}
}

// begin is the first position of the innermost document; what a caller added is no
// document.
func (p *Policy) begin() access.Position {
	at := access.Position{Line: 1, Column: 1}
	for _, l := range p.layers() {
		if l.src.File != callerFile {
			at.File = l.src.File
		}
	}
	return at
}

// writable are the write paths that the chain grants, for messages.
func (p *Policy) writable() []string {
	var write []grant
	first := true
	for _, l := range p.layers() {
		if l.write != nil {
			write, first = intersect(write, l.grants("fs.write", l.src.Document.FS.Write), first), false
		}
	}
	list := make([]string, len(write))
	for i, g := range write {
		list[i] = g.pattern.String()
	}
	return list
}

// outside is what the chain says about files outside the project.
func (p *Policy) outside() opinion { return p.over(stageOutside, &question{}, nil, nil).opinion }

// bashPolicy is the narrowest shell policy of the chain, "" if none is set.
func (p *Policy) bashPolicy() BashPolicy {
	var least BashPolicy
	for _, l := range p.layers() {
		if b := l.src.Document.BashPolicy; b != "" && (least == "" || b.rank() < least.rank()) {
			least = b
		}
	}
	return least
}

// escapeGlob makes a place a glob that matches it alone.
func escapeGlob(place string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(place)
}
