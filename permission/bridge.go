package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Held is a policy as the path resolver holds it, on every surface.
type Held struct {
	// Config has Root, WritePaths, Git, Hide and Protect. What may only be
	// done after asking is refused by it: hidden, or protected.
	Config pathresolver.Config

	// Positions says where the entries stand, by the names that
	// pathresolver.Violation has for them: "write_paths[0]", "hide[2]".
	// Config.Origins says the same as text, with the rule.
	Positions map[string]Position

	// NoView says that the policy lets files outside the project alone be
	// reached without asking: there is nothing to confine (yolo).
	NoView bool

	rules map[string]*rule // behind the entries, by the same names
	lists []ruleList       // that Config.WritePaths are the common part of
}

// ruleList is one document's list of what may be done.
type ruleList struct {
	paths []string
	rule  *rule // nil: a principal's documents have none
}

// UnheldError says that a view or the skills cannot hold a rule. They could
// only by opening more, which nothing does.
type UnheldError struct {
	Position
	Rule    string // layer:path
	Message string
	Hint    string
}

func (e *UnheldError) Error() string {
	return fmt.Sprintf("%s: %s (%s)", e.Position, e.Message, e.Hint)
}

// Resolver returns what the path resolver needs to hold the policy for the
// project at root: never more than Check allows. Globs among read and write
// paths that no list of paths can express are an *UnheldError.
func (p *Policy) Resolver(root string) (Held, error) {
	h := Held{Config: pathresolver.Config{Root: root}, Positions: map[string]Position{}, rules: map[string]*rule{}}
	var read []grant
	reads, writes := true, true // does every group list them?
	var write []grant
	firstRead, firstWrite := true, true
	for _, g := range p.groups {
		groupReads, groupWrites := !g.sealed, !g.sealed
		for _, l := range g.layers {
			h.takeAway(l)
			if l.read != nil || len(l.src.Document.askReads()) > 0 {
				groupReads = true
			}
			if l.read != nil {
				read, firstRead = intersect(read, l.grants("fs.read", l.src.Document.FS.Read), firstRead), false
			}
			if l.write != nil {
				groupWrites = true
				write, firstWrite = intersect(write, l.grants("fs.write", l.src.Document.FS.Write), firstWrite), false
				h.lists = append(h.lists, ruleList{l.src.Document.FS.Write, l.writeList})
			}
		}
		if !groupWrites {
			h.lists = append(h.lists, ruleList{})
		}
		reads, writes = reads && groupReads, writes && groupWrites
	}
	if !reads || firstRead {
		return Held{}, &UnheldError{Position: p.begin(), Message: "the policy lets nothing be read", Hint: "add 'extends: sandboxed', or 'fs: {read: [.]}'"}
	}
	if !slices.ContainsFunc(read, func(g grant) bool { return len(g.pattern.segs) == 0 }) {
		r := read0(read, p)
		return Held{}, &UnheldError{Position: r.at, Rule: r.id, Message: "fs.read of less than the project cannot be held by a view yet", Hint: "use 'read: [.]' and hide the rest with fs.hide"}
	}
	if !writes {
		write = nil
	}
	for _, g := range write {
		if !g.pattern.isPath() {
			return Held{}, &UnheldError{Position: g.rule.at, Rule: g.rule.id,
				Message: fmt.Sprintf("write glob '%s' cannot be held by a view", g.rule.text), Hint: "name directories or files; a trailing /** is fine"}
		}
		place := g.pattern.String()
		if place == ".git" {
			h.Config.Git = true
			h.rules["git"] = g.rule
			continue
		}
		h.rules[fmt.Sprintf("write_paths[%d]", len(h.Config.WritePaths))] = g.rule
		h.Config.WritePaths = append(h.Config.WritePaths, place)
	}
	h.rules["protect"] = &rule{id: "always:protect", at: Position{File: "built in"}}
	for _, r := range p.always.rules {
		if !contains(pathresolver.DefaultProtected(), r.text) {
			h.rules[fmt.Sprintf("protect[%d]", len(h.Config.Protect))] = &rule{id: "always:protect", at: Position{File: "a policy in force"}}
			h.Config.Protect = append(h.Config.Protect, escapeGlob(r.text))
		}
	}
	h.NoView = p.outside() == allowed
	h.NameFiles(func(file string) string { return file })
	return h, nil
}

// NameFiles has Positions and Config.Origins call each file by what name makes
// of the name that the policy's Sources have for it: a name that whoever reads
// a refusal can open.
func (h *Held) NameFiles(name func(file string) string) {
	text := func(r *rule) string {
		if r == nil {
			return ""
		}
		at := r.at
		if r.layer != "" { // not one of ours
			at.File = name(at.File)
		}
		return originText(r.id, at)
	}
	h.Config.Origins = pathresolver.Origins{Entries: map[string]string{}}
	for field, r := range h.rules {
		if h.Config.Origins.Entries[field] = text(r); r.at.Line > 0 {
			at := r.at
			at.File = name(at.File)
			h.Positions[field] = at
		}
	}
	for _, l := range h.lists {
		h.Config.Origins.Write = append(h.Config.Origins.Write, pathresolver.OriginList{Paths: l.paths, Origin: text(l.rule)})
	}
}

// begin is the first place of the innermost document, what a caller added
// apart.
func (p *Policy) begin() Position {
	at := Position{Line: 1, Column: 1}
	for _, l := range p.layers() {
		if l.src.File != callerFile {
			at.File = l.src.File
		}
	}
	return at
}

func (d *Document) askReads() []string {
	if d.FS == nil {
		return nil
	}
	return d.FS.AskRead
}

func read0(read []grant, p *Policy) *rule {
	if len(read) > 0 {
		return read[0].rule
	}
	for _, l := range p.layers() {
		if l.read != nil {
			return l.readList
		}
	}
	return &rule{}
}

// takeAway adds what a layer hides, protects, or wants asked for.
func (h *Held) takeAway(l *layer) {
	fs := l.src.Document.FS
	if fs == nil {
		return
	}
	add := func(field string, to *[]string, part string, list []string) {
		for i, text := range list {
			pattern, err := parsePattern(text, false)
			if err == nil && len(pattern.segs) == 0 {
				text = "**"
			}
			h.rules[fmt.Sprintf("%s[%d]", field, len(*to))] = l.newRule(fmt.Sprintf("%s[%d]", part, i), text)
			*to = append(*to, text)
		}
	}
	add("hide", &h.Config.Hide, "fs.hide", fs.Hide)
	add("hide", &h.Config.Hide, "fs.ask_read", fs.AskRead)
	add("protect", &h.Config.Protect, "fs.protect", fs.Protect)
	add("protect", &h.Config.Protect, "fs.ask_write", fs.AskWrite)
}

// grant is one entry of a list that allows.
type grant struct {
	pattern pattern
	rule    *rule
}

func (l *layer) grants(path string, list []string) []grant {
	var grants []grant
	for i, text := range list {
		if p, err := parsePattern(text, false); err == nil {
			grants = append(grants, grant{p, l.newRule(fmt.Sprintf("%s[%d]", path, i), text)})
		}
	}
	return grants
}

// intersect keeps of two lists what the other covers. The first list of a chain
// stands as it is.
func intersect(a, b []grant, first bool) []grant {
	if first {
		return b
	}
	var both []grant
	for _, g := range b {
		if slices.ContainsFunc(a, func(o grant) bool { return g.pattern.within(o.pattern) }) {
			both = append(both, g)
		}
	}
	for _, g := range a {
		inner := slices.ContainsFunc(b, func(o grant) bool { return g.pattern.within(o.pattern) })
		if inner && !slices.ContainsFunc(both, func(o grant) bool { return g.pattern.within(o.pattern) }) {
			both = append(both, g)
		}
	}
	return both
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

// Network reports whether the agent has the network, and the rule that says
// so; without one, no document of the chain grants it.
func (p *Policy) Network() (on bool, rule string, at Position) {
	on = true
	for _, g := range p.groups {
		spoke := !g.sealed
		for _, l := range g.layers {
			switch l.network.opinion {
			case denied:
				return false, l.network.rule.id, l.network.rule.at
			case allowed:
				spoke, rule, at = true, l.network.rule.id, l.network.rule.at
			}
		}
		if !spoke {
			return false, "", Position{}
		}
	}
	return on, rule, at
}

// BashPolicy is the narrowest shell policy of the chain, "" if none is set.
func (p *Policy) BashPolicy() BashPolicy {
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
