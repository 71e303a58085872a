package pathresolver

import (
	"slices"

	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// Origins returns where the entries were written, its "write_paths" counted as
// WritePaths counts them.
func (r inside) Origins() resolved.Origins {
	o := resolved.Origins{Entries: map[string]string{}, Write: slices.Clone(r.origins.Write), Read: slices.Clone(r.origins.Read)}
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

// bound is a compiled resolved.OriginList.
type bound struct {
	rules  ruleSet
	all    bool // it has the root itself
	origin string
}

// boundsOf compiles lists. They are for messages only: what is no glob is left
// out.
func boundsOf(lists []resolved.OriginList) []bound {
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
