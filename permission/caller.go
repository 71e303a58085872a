package permission

import (
	"slices"

	"github.com/pinfold-dev/pinfold/access"
)

// Unlisted is a write path of Options.Caller that has no effect, because a document
// lists write paths of its own and does not cover it.
type Unlisted struct {
	Index int             // in the caller's fs.write
	Path  string          // as it stands there, relative to the root
	List  access.Position // of the innermost list that lacks it
}

// Unlisted returns the caller's write paths that have no effect, since nothing that a
// caller adds widens a document. It is empty where no document lists write paths.
func (p *Policy) Unlisted() []Unlisted {
	var found []Unlisted
	layers, c := p.layers(), newComparer()
	for _, caller := range layers {
		if caller.src.File != callerFile || caller.write == nil {
			continue
		}
		for i, text := range caller.src.Document.FS.Write {
			pat, err := parsePattern(text, false)
			if err != nil {
				continue // which no caller's document that was validated has
			}
			for _, l := range slices.Backward(layers) {
				if l.listsWrites() && !c.covered(pat, l.src.Document.FS.Write, false) {
					found = append(found, Unlisted{Index: i, Path: text, List: l.src.position("fs.write")})
					break
				}
			}
		}
	}
	return found
}

// WriteList is where the innermost list of write paths stands, without what a caller
// adds. It is false where no document has one: then the caller gives them.
func (p *Policy) WriteList() (access.Position, bool) {
	for _, l := range slices.Backward(p.layers()) {
		if l.listsWrites() {
			return l.src.position("fs.write"), true
		}
	}
	return access.Position{}, false
}

// listsWrites reports whether a document says what may be written.
func (l *layer) listsWrites() bool { return l.src.File != callerFile && l.write != nil }
