package pathresolver

import (
	"maps"
	"slices"

	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// Changed returns a Resolver of the same directory with further write paths and hide
// globs, and warnings; r stays as it is. Both share what is open, so only one of them is
// closed. What is added is checked as New checks it, and nothing else is looked at again:
// what git's configuration names was protected by New, which therefore has to have been
// told that write paths may come (Config.Widens) if there was none. The error is a
// *ConfigError.
func (r inside) Changed(c resolved.Change) (*Resolver, []Violation, error) {
	var f findings
	next := *r.Resolver
	hide := next.compileRules(&f, "hide", c.Hide, nil).all
	next.origins.Entries = maps.Clone(r.origins.Entries)
	if next.origins.Entries == nil {
		next.origins.Entries = map[string]string{}
	}
	for i := range hide {
		hide[i].origin = c.Origin
		next.origins.Entries[fieldOf("hide", len(r.hide.all)+i)] = c.Origin
	}
	next.hide = newRuleSet(slices.Concat(r.hide.all, hide))
	for _, w := range r.write {
		if v := next.verdictAt(w); v.Hidden && len(hide) > 0 {
			f.add(Violation{Code: codePathHidden, Field: "hide", Value: v.Pattern,
				Message: "allowed_write_path '" + EscapePath(w) + "' is hidden by '" + EscapePath(v.Pattern) + "'",
				Hint:    "what is a write path of the run cannot be hidden as a whole: name what lies in it, or stop the run"})
		}
	}
	switch {
	case len(c.Write) == 0 || r.widens:
	case len(r.unclearGit) > 0:
		f.list = append(f.list, r.unclearGit...)
	default:
		f.add(Violation{Code: codeGitUnclear, Field: "write_paths",
			Message: "what git would run here was not looked at when this was opened, since nothing could be written"})
	}
	next.writeAt, next.protect.all = maps.Clone(r.writeAt), slices.Clip(r.protect.all)
	for i, given := range c.Write {
		place, ok := next.checkWritePath(&f, fieldOf("write_paths", i), given, r.root, true)
		if !ok {
			continue
		}
		if _, covered := next.writePathOf(place); !covered {
			next.addWritePath(place, c.Origin)
		}
	}
	if f.failed() {
		return nil, nil, &ConfigError{Violations: f.list}
	}
	next.settle()
	return &next, f.list, nil
}

// addWritePath adds a write path, which covers those beneath it from now on.
func (r *Resolver) addWritePath(place, origin string) {
	maps.DeleteFunc(r.writeAt, func(at, _ string) bool { return within(at, place) })
	r.writeAt[place] = origin
	r.write = slices.Sorted(maps.Keys(r.writeAt))
	if r.trusted != nil {
		r.trustedLinks(place, r.trusted.Anywhere)
	}
}
