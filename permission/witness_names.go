package permission

import (
	"maps"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// namesOf are names that a component matches, in the spellings that rules tell
// apart, and one in another case.
func namesOf(p *globs.Part) []string {
	names := map[string]bool{}
	add := func(name string) {
		if name != "" && globs.Match(p, name) {
			names[name] = true
			names[globs.Fold(name)] = true
		}
	}
	switch p.Kind() {
	case globs.Literal:
		add(p.Text())
	case globs.Simple:
		begins, ends := p.Ends()
		add(begins + ends)
		add(begins + "pf" + ends)
	case globs.General:
		// Alternatives, members of classes and single characters, as candidates.
		for _, part := range strings.FieldsFunc(p.Text(), func(r rune) bool { return strings.ContainsRune("{},[]", r) }) {
			add(part)
			for _, c := range part {
				add(string(c))
			}
		}
		cut := strings.NewReplacer("?", "q", "*", "pf", "{", "", "}", "", "[", "", "]", "", `\`, "")
		add(cut.Replace(p.Text()))
		add("pf")
		add("q")
	}
	return slices.Sorted(maps.Keys(names))
}

// instances are places that the pattern matches.
func (p pattern) instances() []string {
	at := []string{""}
	parts := p.Parts()
	for i := range parts {
		var next []string
		options := namesOf(&parts[i])
		if parts[i].Kind() == globs.AnyDepth {
			options = []string{"", "pf-deep"}
		}
		for _, prefix := range at {
			for _, name := range options {
				if len(next) < 16 {
					next = append(next, strings.Trim(prefix+"/"+name, "/"))
				}
			}
		}
		at = next
	}
	return slices.DeleteFunc(at, func(s string) bool { return s == "" })
}

// instances are session keys that the pattern matches: the shortest one and a longer
// one.
func (p sessionPattern) instances() []string {
	short, long := make([]string, len(p.segs)), make([]string, 0, len(p.segs)+2)
	for i, s := range p.segs {
		switch {
		case s != "*":
			short[i] = s
		case i == 0:
			short[i] = "agent"
		default:
			short[i] = stranger
		}
		long = append(long, short[i])
		if s == "*" && (i == 0 || i == len(p.segs)-1) {
			long = append(long, "pf")
		}
	}
	return []string{strings.Join(short, ":"), strings.Join(long, ":")}
}
