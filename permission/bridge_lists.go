package permission

import (
	"fmt"
	"slices"
)

// fileList is one document's list of what may be read or written, with what it lets be
// asked for. Where a principal's documents have no such list it is what holds without
// one.
type fileList struct {
	grants []grant
	asks   []grant
	rule   *rule // the list itself; nil: there is none
}

// filePart is one of the two kinds of lists.
type filePart struct {
	name, ask string
	list      func(*FS) (list, asks []string)
	rule      func(*layer) *rule
}

var (
	readPart = filePart{"fs.read", "fs.ask_read", func(fs *FS) (list, asks []string) { return fs.Read, fs.AskRead },
		func(l *layer) *rule { return l.readList }}
	writePart = filePart{"fs.write", "fs.ask_write", func(fs *FS) (list, asks []string) { return fs.Write, fs.AskWrite },
		func(l *layer) *rule { return l.writeList }}
)

// fileLists are the lists of the chain, each of which has to cover a place, and
// everything that may be asked for.
func (p *Policy) fileLists(part filePart) (lists []fileList, asks []asking) {
	for _, g := range p.groups {
		first, firstAsk := len(lists), len(asks)
		for _, l := range g.layers {
			if l.src.Document.FS == nil {
				continue
			}
			list, asked := part.list(l.src.Document.FS)
			mine := l.grants(part.ask, asked)
			own := -1
			if list != nil {
				own = len(lists)
				lists = append(lists, fileList{l.grants(part.name, list), mine, part.rule(l)})
			}
			for _, a := range mine {
				asks = append(asks, asking{a, own})
			}
		}
		if g.sealed && len(lists) == first {
			left := fileList{}
			for i := range asks[firstAsk:] {
				asks[firstAsk+i].own = first
				left.asks = append(left.asks, asks[firstAsk+i].grant)
			}
			lists = append(lists, left)
		}
	}
	return lists, asks
}

// covers are everything that a list does not deny.
func (l *fileList) covers() []grant { return slices.Concat(l.grants, l.asks) }

func (l *fileList) texts() []string {
	var texts []string
	for _, g := range l.covers() {
		texts = append(texts, g.rule.text)
	}
	return texts
}

// common is what all lists cover, with or without the paths that they let be asked
// for. Of globs that differ it may miss a part.
func common(lists []fileList, asks bool) []grant {
	var both []grant
	for i := range lists {
		list := slices.Clone(lists[i].grants)
		for _, a := range lists[i].asks {
			if asks && a.pattern.isPath() && !a.isAll() {
				list = append(list, a)
			}
		}
		both = intersect(both, list, i == 0)
	}
	return both
}

// asking is one entry of what may be asked for.
type asking struct {
	grant
	own int // the list that it belongs to; -1: none
}

// within is the part of it that no other list denies. A glob that a list covers in
// part is kept whole: what lies outside is not writable anyway. Letter case is
// ignored, as rules that take away ignore it; otherwise a list that spells the place
// differently would lift the rule.
func (a asking) within(lists []fileList) []grant {
	left := []grant{a.grant}
	for i := range lists {
		covers := lists[i].covers()
		switch {
		case i == a.own:
		case len(covers) == 0:
			return nil
		case !slices.ContainsFunc(slices.Concat(left, covers), func(g grant) bool { return !g.pattern.isPath() }):
			left = intersectAs(grant.folded, covers, left)
		}
	}
	for i, g := range left {
		r := *a.rule
		r.text = g.pattern.String()
		left[i].rule = &r
	}
	return left
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

// isAll reports whether it covers everything, the root itself included.
func (g grant) isAll() bool { return g.pattern.Len() == 0 }

// intersect keeps of two lists what the other covers. The first list of a chain
// stands as it is.
func intersect(a, b []grant, first bool) []grant {
	if first {
		return b
	}
	return intersectAs(grant.exact, a, b)
}

// exact is what a grant covers; folded is that for rules that ignore letter
// case, of a path.
func (g grant) exact() pattern  { return g.pattern }
func (g grant) folded() pattern { return g.pattern.folded() }

// intersectAs is intersect of what as says that grants cover.
func intersectAs(as func(grant) pattern, a, b []grant) []grant {
	var inA, inB, inBoth patternList
	for _, g := range a {
		inA.add(as(g))
	}
	for _, g := range b {
		inB.add(as(g))
	}
	var both []grant
	keep := func(g grant, p pattern) {
		both = append(both, g)
		inBoth.add(p)
	}
	for _, g := range b {
		if p := as(g); inA.covers(p) {
			keep(g, p)
		}
	}
	for _, g := range a {
		if p := as(g); inB.covers(p) && !inBoth.covers(p) {
			keep(g, p)
		}
	}
	return both
}
