package cases

import (
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

// Row is one row of the attack catalogue.
type Row struct {
	ID    string // "W06"
	Title string
	Where string // file, for messages
	Tree  []Entry
	Lines []Line
}

// Group is the letter of the row's group.
func (r Row) Group() string { return r.ID[:1] }

// NeedsRoot reports whether the row has mounts or devices.
func (r Row) NeedsRoot() bool {
	return slices.ContainsFunc(r.Tree, func(e Entry) bool { return e.How == "|" && e.What == "null" }) ||
		slices.ContainsFunc(r.Lines, func(l Line) bool {
			return l.Kind == LineStep && (l.Words[0] == "bind" || l.Words[0] == "mountproc")
		})
}

// LineKind tells the lines of a row apart.
type LineKind uint8

const (
	// LineStep is a step that someone else does.
	LineStep LineKind = iota
	// LinePolicy starts the surface.
	LinePolicy
	// LineOp is an operation on the surface.
	LineOp
)

// Line is one line of a row. Words are not yet expanded.
type Line struct {
	Kind  LineKind
	Text  string // as written, for messages
	Words []string
	Want  Outcome
}

// Op is the operation of a LineOp or LineStep.
func (l Line) Op(vars Vars) ops.Op {
	op := ops.Op{Verb: l.Words[0]}
	for _, w := range l.Words[1:] {
		op.Args = append(op.Args, []byte(vars.Expand(w)))
	}
	return op
}

// OutcomeKind is what must come of an operation.
type OutcomeKind uint8

const (
	// WantOK says that it works.
	WantOK OutcomeKind = iota
	// WantRefused says that it is refused and changes nothing.
	WantRefused
	// WantLeak says that it works although it should not, and the documents say so.
	WantLeak
)

// Outcome is the right side of a line.
type Outcome struct {
	Kind    OutcomeKind
	Data    string // WantOK: what must have been read, if HasData
	HasData bool
	Changes []string // WantOK: the changes, sorted
	Words   []string // WantRefused: rules and errnos, any of which will do
	Naive   Naive    // WantRefused: the mistake of the unguarded tool, "" for none
	Same    string   // WantRefused: why the system refuses as well
	Hangs   bool     // WantRefused: unguarded, it never ends
	Reason  string   // WantLeak
	View    *Outcome // what must come of it inside a view instead, nil for the same
}

// Vars are the values of the $ words of one site.
type Vars map[string]string

// Expand puts values in the place of $NAME and repeats {TEXT*N}.
func (v Vars) Expand(word string) string {
	word = repeated.ReplaceAllStringFunc(word, repeat)
	return name.ReplaceAllStringFunc(word, func(s string) string {
		if value, ok := v[s[1:]]; ok {
			return value
		}
		return s
	})
}

// secret is what no operation may return.
const secret = "SECRET"

// Leaks reports whether data holds what lies outside or is hidden.
func Leaks(data []byte) bool { return strings.Contains(string(data), secret) }
