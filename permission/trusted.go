package permission

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/internal/trusted"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Files that programs run or trust by themselves (trusted.Files) are
// protected unless fs.unprotect names them. That key allows something, as fs.write
// does. So a file is open only if every principal of the chain names it, and within
// the documents of one principal the lists only narrow each other.

// opens are the globs of the table that a list of fs.unprotect stands for.
func opens(list []string) map[string]bool {
	globs := map[string]bool{}
	for _, f := range trusted.Files() {
		if slices.Contains(list, f.Glob) || slices.Contains(list, f.Name) {
			globs[f.Glob] = true
		}
	}
	return globs
}

// opens are what a group opens; all is set where the group does not restrict it.
func (g *group) opens() (globs map[string]bool, all bool) {
	for _, l := range g.layers {
		if fs := l.src.Document.FS; fs == nil || fs.Unprotect == nil {
			continue
		}
		own := opens(l.src.Document.FS.Unprotect)
		if globs == nil {
			globs = own
			continue
		}
		maps.DeleteFunc(globs, func(glob string, _ bool) bool { return !own[glob] })
	}
	return globs, globs == nil && !g.sealed
}

// opensOf are the globs of trusted.Files that a whole chain opens, in the order of
// that table.
func opensOf(groups []group) []string {
	var common map[string]bool // nil: nobody has spoken
	for i := range groups {
		globs, all := groups[i].opens()
		switch {
		case all:
		case len(globs) == 0:
			return nil
		case common == nil:
			common = globs
		default:
			maps.DeleteFunc(common, func(glob string, _ bool) bool { return !globs[glob] })
		}
	}
	if len(common) == 0 {
		return nil
	}
	var open []string
	for _, f := range trusted.Files() {
		if common[f.Glob] {
			open = append(open, f.Glob)
		}
	}
	return open
}

// trustedRule is the rule that keeps a place from being changed because a
// program runs what is there by itself; nil if none does.
func (p *Policy) trustedRule(place string) *rule {
	t := p.trusted.Covers(place)
	if t == nil {
		return nil
	}
	return &rule{id: "always:protect", layer: "always", text: t.Glob, at: access.Position{File: "built in"}}
}

// protectedReason says why a place is protected by a rule of that text.
func protectedReason(layer, text string) string {
	if layer == "always" {
		for _, f := range trusted.Files() {
			if f.Glob == text {
				return fmt.Sprintf("%s; 'unprotect' in the policy's fs opens '%s'", f.String(), f.Glob)
			}
		}
	}
	return fmt.Sprintf("the name is protected by '%s': it may be read but not changed", text)
}

// unprotect checks the words of fs.unprotect.
func (v *validator) unprotect(list []string) {
	var words []string
	for _, f := range trusted.Files() {
		words = append(words, f.Name, f.Glob)
	}
	for i, word := range list {
		at := fmt.Sprintf("fs.unprotect[%d]", i)
		if !v.plain(at, word) || slices.Contains(words, word) {
			continue
		}
		hint := "'pinfold policy show' lists the names"
		if like := didyoumean.Word(word, words); like != "" {
			hint = "did you mean '" + like + "'?"
		}
		if slices.Contains(pathresolver.DefaultProtected(), word) || word == ".git" {
			hint = "what makes git run code only the flag --unprotect opens"
		}
		v.bad(at, fmt.Sprintf("%s: '%s' is no file that programs run by themselves", at, word), hint)
	}
}

// unprotectExcess finds what a document opens and the policy does not.
func (p *Policy) unprotectExcess(doc *Document, add func(path, format string, args ...any)) {
	for i, word := range doc.FS.Unprotect {
		for glob := range opens([]string{word}) {
			if !slices.Contains(p.open, glob) {
				add(fmt.Sprintf("fs.unprotect[%d]", i), "'%s' is protected in '%s'", word, p.Name())
				break
			}
		}
	}
}

// lintUnprotect says what a document lets an agent write.
func lintUnprotect(fs *FS, add addProblem) {
	for i, word := range fs.Unprotect {
		for _, f := range trusted.Files() {
			if f.Name == word || f.Glob == word {
				add("opens_trusted", fmt.Sprintf("fs.unprotect[%d]", i), "drop it, or note the finding in a baseline",
					"'%s' lets the agent write what acts by itself: %s", word, f.String())
				break
			}
		}
	}
}
