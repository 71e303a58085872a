package egress

import (
	"slices"
	"strings"
)

// within reports whether every host of r is one of o, whatever the ports.
func (r Rule) within(o Rule) bool {
	if domain, wild := strings.CutPrefix(o.Name, "*"); wild {
		return strings.HasSuffix(r.Name, domain) // beneath the domain, or all beneath a part of it
	}
	return r.Name == o.Name && r.Addr == o.Addr || o.Name == "localhost" && r.Addr.IsLoopback()
}

// Meet is what both rules allow; ok is false where that is nothing.
func Meet(a, b Rule) (both Rule, ok bool) {
	switch {
	case a.within(b):
	case b.within(a):
		a, b = b, a
	default:
		return Rule{}, false
	}
	a.Ports = slices.DeleteFunc(slices.Clone(a.Ports), func(port uint16) bool { return !slices.Contains(b.Ports, port) })
	return a, len(a.Ports) > 0
}

// Cover reports whether the rules allow all that r does. Since names lie beneath each
// other or apart, one of them covers a port of it, or none does.
func (r Rules) Cover(of Rule) bool {
	for _, port := range of.Ports {
		if !slices.ContainsFunc(r, func(rule Rule) bool { return of.within(rule) && slices.Contains(rule.Ports, port) }) {
			return false
		}
	}
	return true
}
