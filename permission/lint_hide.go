package permission

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/internal/policies"
)

// lintHides finds globs that hide nothing, since what the document extends
// hides it all. Those that an entry of the same list covers lintList finds.
func (p *Policy) lintHides(l *layer, c *comparer, add addProblem) {
	for i, text := range l.src.Document.FS.Hide {
		pat, err := parsePattern(text, true)
		if err != nil {
			continue
		}
		for _, o := range p.layers() {
			if o == l {
				break
			}
			if of := o.src.Document.FS; of != nil && c.covered(pat, of.Hide, true) {
				add("hides_nothing", fmt.Sprintf("fs.hide[%d]", i), "drop it", "'%s' is hidden by '%s' already", text, o.name)
				break
			}
		}
	}
}

// hiddenPaths are the entries of fs.hide that name one path, without any
// wildcard, in the documents of the policy that come from files.
func (p *Policy) hiddenPaths() []policies.Entry {
	var list []policies.Entry
	for _, l := range p.layers() {
		if l.src.Document.FS == nil || isBuiltin(l.src) || l.src.File == callerFile {
			continue
		}
		for i, text := range l.src.Document.FS.Hide {
			part := fmt.Sprintf("fs.hide[%d]", i)
			if pat, err := parsePattern(text, false); err == nil && pat.isPath() && pat.Len() > 0 {
				list = append(list, policies.Entry{Text: pat.String(), Path: part, Position: l.src.position(part)})
			}
		}
	}
	return list
}
