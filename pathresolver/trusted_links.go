package pathresolver

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// Bounds on what a start costs: directories in which names of the table are looked
// for, and names that are looked at in a directory that is covered as a whole.
const (
	maxTrustedLinks = 100
	maxTrustedNames = 1000
)

// guardTrustedLinks protects what names of the table lead to that are links when the
// resolver is made, such as .vscode -> tools/vscode: programs follow them, and what
// they lead to has another name. It looks at the root and the write paths, for the
// names of the table that have no "*".
func (r *Resolver) guardTrustedLinks() {
	if r.trusted == nil {
		return
	}
	r.trustedLinks(".", r.trusted.Top)
	r.trustedLinks(".", r.trusted.Anywhere)
	for i, dir := range r.write {
		if dir != "." && i < maxTrustedLinks {
			r.trustedLinks(dir, r.trusted.Anywhere)
		}
	}
}

// trustedLinks looks at the names of the table in one directory, and in those of
// them that are directories.
func (r *Resolver) trustedLinks(dir string, names *trusted.Node) {
	kindOf, done := r.kindsIn(dir)
	defer done()
	for name, next := range names.Next {
		if next.First == nil {
			continue // nothing here is covered
		}
		kind, there := kindOf(name)
		place := joinPlace(dir, name)
		switch {
		case !there:
		case kind&fs.ModeSymlink != 0:
			r.guardLink(place, next.First)
		case kind.IsDir() && (next.Entry != nil || next.Rest != nil):
			r.linksBeneath(place)
		case kind.IsDir():
			r.trustedLinks(place, next)
		}
	}
}

// linksBeneath looks at a directory of which all is covered, or all but some names.
func (r *Resolver) linksBeneath(dir string) {
	looked := 0
	_ = filepath.WalkDir(filepath.Join(r.root, filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
		if looked++; looked > maxTrustedNames {
			return filepath.SkipAll
		}
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			place, _ := r.placeOf(path)
			if t := r.trusted.Covers(place); t != nil {
				r.guardLink(place, t)
			}
		}
		return nil // what cannot be read, no agent has made a link in
	})
}

// guardLink protects what a link leads to.
func (r *Resolver) guardLink(link string, t *trusted.File) {
	to, ok := r.placeOf(linkEnd(filepath.Join(r.root, filepath.FromSlash(link))))
	if !ok || to == "." {
		return
	}
	if g, err := compileGlob(escapeGlob(to)); err == nil {
		g.text, g.origin = to, "'"+EscapePath(link)+"' is a link to it, and "+t.String()
		r.protect = newRuleSet(append(r.protect.all, g))
	}
}

// linkEnd is where a link leads, or would lead if it were there.
func linkEnd(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	to, err := os.Readlink(path)
	if err == nil && !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	return to
}
