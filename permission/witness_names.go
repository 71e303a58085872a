package permission

import (
	"maps"
	"slices"
	"strings"
)

// maxProduct bounds the places that are made by combining all names.
const maxProduct = 20_000

// placesOf are places that the patterns of layers tell apart: matches of each,
// and what lies above, beneath and beside them. Where there are few names, all
// their combinations.
func placesOf(layers []*layer) []string {
	var patterns []pattern
	for _, l := range layers {
		for _, list := range l.src.Document.patternLists() {
			for _, text := range list {
				if p, err := parsePattern(text, false); err == nil {
					patterns = append(patterns, p)
				}
			}
		}
	}
	places := map[string]bool{".": true, "pf-x": true}
	names := map[string]bool{"pf-x": true}
	depth := 1
	for _, p := range patterns {
		for _, s := range p.segs {
			addAll(names, s.instances())
		}
		depth = max(depth, len(p.segs)+1)
	}
	pool := slices.Sorted(maps.Keys(names))
	if product(len(pool), min(depth+1, 4)) <= maxProduct {
		combine(places, pool, "", min(depth+1, 4))
	}
	for _, p := range patterns {
		for _, at := range p.instances() {
			places[at] = true
			places[at+"/pf-x"] = true
			if cut := strings.LastIndexByte(at, '/'); cut > 0 {
				places[at[:cut]] = true
				places[at[:cut]+"/pf-x"] = true
			}
		}
	}
	// What floats can meet what is anchored.
	for _, p := range patterns {
		for _, q := range patterns {
			if len(places) > maxProduct || len(q.segs) == 0 || q.segs[0].kind == literal {
				continue
			}
			for _, at := range p.instances() {
				for _, tail := range q.instances() {
					places[at+"/"+tail] = true
				}
			}
		}
	}
	delete(places, "")
	return slices.Sorted(maps.Keys(places))
}

func product(n, depth int) int {
	total := 1
	for range depth {
		if total *= n; total > maxProduct {
			return total
		}
	}
	return total
}

func combine(places map[string]bool, pool []string, at string, depth int) {
	for _, name := range pool {
		place := strings.TrimPrefix(at+"/"+name, "/")
		places[place] = true
		if depth > 1 {
			combine(places, pool, place, depth-1)
		}
	}
}

// patternLists are all lists of patterns in a document.
func (d *Document) patternLists() [][]string {
	var lists [][]string
	if fs := d.FS; fs != nil {
		lists = append(lists, fs.Read, fs.Write, fs.AskRead, fs.AskWrite, fs.Hide, fs.Protect)
	}
	for _, t := range d.Tools {
		lists = append(lists, t.AllowedPaths)
	}
	return lists
}

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
