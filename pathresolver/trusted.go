package pathresolver

import (
	"fmt"
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// decideTrusted keeps a directory of the table from becoming a link, or a file that
// works like one: what it leads to has a name that is not protected.
func (p *policy) decideTrusted(op access.Op, place string, kind fs.FileMode) *DeniedError {
	var t *trusted.File
	what := "a link"
	switch kind.Type() {
	case fs.ModeDir:
	case fs.ModeSymlink:
		t = p.trusted.LeadsTo(place)
	default:
		t, what = p.trusted.DirOnly(place), "a file"
	}
	if t == nil {
		return nil
	}
	return p.denied(op, place, RuleProtected, "it may be made as a directory, not as "+what+": "+p.opening(t)).by(t.Glob, p.origins.Entries["protect"])
}

// decideTrustedMove refuses what would take something out of the table's reach,
// or put something under a name of it.
func (p *policy) decideTrustedMove(from, to string) *DeniedError {
	refuse := func(place, what string, t *trusted.File) *DeniedError {
		return p.denied(access.OpRename, place, RuleEscapes, what+"; copying is possible. "+p.opening(t)).by(t.Glob, p.origins.Entries["protect"])
	}
	if t := p.trusted.Escapes(from, to); t != nil {
		return refuse(from, "moving it could take what is protected in it to another name", t)
	}
	if t := p.trusted.Escapes(to, from); t != nil {
		return refuse(to, "moving it here could put what it holds under a protected name", t)
	}
	if t := p.trusted.Released(from, to); t != nil {
		return p.denied(access.OpRename, from, RuleEscapes, "what lies beneath "+trusted.OutOfTrust+" is not moved out of it, since it may hold files that programs run by themselves; copying is possible").
			by(t.Glob, p.origins.Entries["protect"])
	}
	return nil
}

// opening says why an entry is protected, and how it is opened.
func (p *policy) opening(t *trusted.File) string {
	if p.origins.Entries["protect"] != "" { // a policy, which flags do not widen
		return fmt.Sprintf("%s; 'unprotect' in the policy's fs opens '%s'", t, t.Glob)
	}
	return fmt.Sprintf("%s; --unprotect '%s' opens it", t, t.Glob)
}
