package permission

import (
	"maps"
	"slices"
	"strings"
)

// instances are names that the segment matches, in the spellings that rules
// tell apart, and one in another case.
func (s *segment) instances() []string {
	names := map[string]bool{}
	add := func(name string) {
		if name != "" && s.matches([]byte(name)) {
			names[name] = true
			names[foldString(name)] = true
		}
	}
	switch s.kind {
	case literal:
		add(s.text)
	case simple:
		add(s.prefix + s.suffix)
		add(s.prefix + "pf" + s.suffix)
	case complex:
		// Alternatives, members of classes and single characters, as candidates.
		for _, part := range strings.FieldsFunc(s.text, func(r rune) bool { return strings.ContainsRune("{},[]", r) }) {
			add(part)
			for _, c := range part {
				add(string(c))
			}
		}
		cut := strings.NewReplacer("?", "q", "*", "pf", "{", "", "}", "", "[", "", "]", "", `\`, "")
		add(cut.Replace(s.text))
		add("pf")
		add("q")
	}
	return slices.Sorted(maps.Keys(names))
}

// instances are places that the pattern matches.
func (p pattern) instances() []string {
	at := []string{""}
	for i := range p.segs {
		var next []string
		options := p.segs[i].instances()
		if p.segs[i].kind == anyDepth {
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

// instances are session keys that the pattern matches, the shortest and a
// longer one.
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
