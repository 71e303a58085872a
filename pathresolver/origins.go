package pathresolver

import "slices"

// Origins says where the entries of a Config were written, as text for
// messages: "worker-docs:fs.hide[2] (policy.yaml:4:9)". It decides nothing.
// Its zero value names nothing.
type Origins struct {
	// Entries are by the names that Violation.Field has for them: "hide[2]",
	// "write_paths[0]", "git". "protect" stands for DefaultProtected.
	Entries map[string]string

	// Write are the lists that WritePaths were made from: WritePaths cover what all of
	// them cover. For a place that no write path covers, messages name the first list
	// that does not cover it.
	Write []OriginList

	// Read are the same for ReadPaths.
	Read []OriginList
}

// OriginList is one list of what may be done, and where it was written.
type OriginList struct {
	Paths  []string // places or globs
	Origin string
}

// Origins returns where the entries were written, its "write_paths" counted as
// WritePaths counts them.
func (r *Resolver) Origins() Origins {
	o := Origins{Entries: map[string]string{}, Write: slices.Clone(r.origins.Write), Read: slices.Clone(r.origins.Read)}
	for field, origin := range r.origins.Entries {
		if _, numbered := fieldIndex(field, "write_paths"); !numbered && field != "git" {
			o.Entries[field] = origin
		}
	}
	for i, wp := range r.write {
		if origin := r.writeAt[wp]; origin != "" {
			o.Entries[fieldOf("write_paths", i)] = origin
		}
	}
	return o
}

// bound is a compiled OriginList.
type bound struct {
	rules  ruleSet
	all    bool // it has the root itself
	origin string
}

// boundsOf compiles lists. They are for messages only: what is no glob is left
// out.
func boundsOf(lists []OriginList) []bound {
	var bounds []bound
	for _, l := range lists {
		b := bound{origin: l.Origin}
		var globs []glob
		for _, p := range l.Paths {
			b.all = b.all || p == "."
			if g, err := compileGlob(p); err == nil {
				globs = append(globs, g)
			}
		}
		b.rules = newRuleSet(globs)
		bounds = append(bounds, b)
	}
	return bounds
}

// lacking is where the first list stands that does not cover place.
func lacking(bounds []bound, place string) string {
	for _, b := range bounds {
		if !b.all && b.rules.covers(place) == nil {
			return b.origin
		}
	}
	if len(bounds) > 0 {
		return bounds[len(bounds)-1].origin // they agree on less than each has
	}
	return ""
}
