package fileskills

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// newPathGlob reads a glob over places beneath the directory that a search
// begins at. Braces that hold a "/" stand for several globs.
func newPathGlob(text string) (globSet, error) {
	if text == "" {
		return nil, fmt.Errorf("a glob has 1 to %d bytes", globs.MaxBytes)
	}
	texts, err := globs.Alternatives(text)
	if err != nil {
		return nil, fmt.Errorf("the glob %w", err)
	}
	var set globSet
	for _, t := range texts {
		var parts []globs.Part
		for name := range strings.SplitSeq(t, "/") {
			switch name {
			case "", ".":
				continue
			case "..":
				return nil, fmt.Errorf(`%q climbs by "..": a glob only goes down from path`, text)
			}
			p, err := globs.ParsePart(name)
			if err != nil {
				return nil, fmt.Errorf("the glob %w", err)
			}
			parts = append(parts, p)
		}
		if len(parts) == 0 || len(parts) > globs.MaxComponents {
			return nil, fmt.Errorf("%q: a glob has 1 to %d components", text, globs.MaxComponents)
		}
		set = append(set, globs.Of(parts))
	}
	return set, nil
}

// newNameGlob is newPathGlob for a filter: a glob without "/" is for names at
// any depth, as in a .gitignore.
func newNameGlob(text string) (globSet, error) {
	if !strings.Contains(strings.TrimSuffix(text, "/"), "/") {
		text = "**/" + text
	}
	return newPathGlob(text)
}

// globSet is several globs on one walk: a name matches when one of them does.
// The walk carries their states down with it.
type globSet []globs.Glob

// start are the states of all, in order.
func (gs globSet) start() []globs.States {
	at := make([]globs.States, len(gs))
	for i := range gs {
		at[i] = gs[i].Start()
	}
	return at
}

// step goes down with all. alive says whether anything can match beneath.
func (gs globSet) step(at []globs.States, name string) (next []globs.States, alive bool) {
	if len(gs) == 0 {
		return nil, false
	}
	next = at // shared while nothing changes, which is the rule below "**"
	for i := range gs {
		s := gs[i].Beneath(globs.Step(gs[i], at[i], name))
		alive = alive || s != 0
		if s != next[i] {
			if &next[0] == &at[0] {
				next = append([]globs.States(nil), at...)
			}
			next[i] = s
		}
	}
	return next, alive
}

func (gs globSet) accepts(at []globs.States, name string) bool {
	for i := range gs {
		if globs.Accepts(gs[i], at[i], name) {
			return true
		}
	}
	return false
}
