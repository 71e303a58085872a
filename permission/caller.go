package permission

import (
	"slices"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
)

// Unlisted returns the caller's write paths that have no effect, since nothing that a
// caller adds widens a document. It is empty where no document lists write paths.
func (p inside) Unlisted() []policies.Unlisted {
	var found []policies.Unlisted
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
					found = append(found, policies.Unlisted{Index: i, Path: text, List: l.src.position("fs.write")})
					break
				}
			}
		}
	}
	return found
}

// WriteList is where the innermost list of write paths stands, without what a caller
// adds. It is false where no document has one: then the caller gives them.
func (p inside) WriteList() (access.Position, bool) {
	for _, l := range slices.Backward(p.layers()) {
		if l.listsWrites() {
			return l.src.position("fs.write"), true
		}
	}
	return access.Position{}, false
}

// listsWrites reports whether a document says what may be written.
func (l *layer) listsWrites() bool { return l.src.File != callerFile && l.write != nil }
