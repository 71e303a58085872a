package permission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// SeverityNote is a problem that only whoever looks at one file is told, beside those
// of pathresolver. A document with an error is refused.
const SeverityNote pathresolver.Severity = "note"

// Problem is one thing that is wrong with a document.
type Problem struct {
	access.Position
	Severity pathresolver.Severity `json:"severity"`
	Code     string                `json:"code"` // stable: syntax, unknown_key, wrong_type, ...
	Path     string                `json:"path"` // where in the document: fs.write[0]
	Message  string                `json:"message"`
	Hint     string                `json:"hint,omitempty"`
}

// String is file:line:column: message (hint). What a caller adds stands in no file.
func (p Problem) String() string {
	s := p.Message
	if p.File != callerFile {
		s = p.Position.String() + ": " + s
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// DocumentError is why a document was refused: every problem, in the order of
// the document, at most maxProblems of them.
type DocumentError struct{ Problems []Problem }

func (e *DocumentError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// problems collects what is wrong while a document is read.
type problems struct {
	file string
	list []Problem
}

func (ps *problems) add(p Problem) {
	p.File = ps.file
	if p.Severity == "" {
		p.Severity = pathresolver.SeverityError
	}
	if len(ps.list) < maxProblems {
		ps.list = append(ps.list, p)
	}
}

// told reports whether something is known to be wrong with a part of the
// document, or with the type of what holds it.
func (ps *problems) told(path string) bool {
	return slices.ContainsFunc(ps.list, func(p Problem) bool {
		return path == p.Path || p.Code == "wrong_type" && within(path, p.Path)
	})
}

// within reports whether a part of a document is another one, or in it.
func within(path, outer string) bool {
	rest, in := strings.CutPrefix(path, outer)
	return in && (rest == "" || outer != "" && strings.ContainsRune(".[", rune(rest[0])))
}

// full reports that nothing more is worth looking for.
func (ps *problems) full() bool { return len(ps.list) >= maxProblems }

// err is the error for what was collected, or nil.
func (ps *problems) err() error {
	if len(ps.list) == 0 {
		return nil
	}
	slices.SortStableFunc(ps.list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &DocumentError{Problems: ps.list}
}

func listText(words []string) string { return strings.Join(words, ", ") }
