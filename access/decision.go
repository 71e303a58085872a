package access

import (
	"fmt"
	"io/fs"
)

// Effect is what a decision says. The stricter one wins wherever two meet:
// deny over ask over allow.
type Effect string

// The effects, strictest first.
const (
	Deny  Effect = "deny"  // refused
	Ask   Effect = "ask"   // refused, but may be asked for
	Allow Effect = "allow" // done
)

// Words returns the effects.
func (Effect) Words() []string { return []string{"allow", "ask", "deny"} }

// Code is the stable identifier of a decision's reason.
type Code string

// Position is a place in a file, counted from 1. Line 0 is the file as a whole.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String is file:line:column, as editors and compilers write it.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Decision is the answer to a Request. Its zero value refuses. It names the rule
// that decided, the layer that holds it, and where it stands.
type Decision struct {
	Effect  Effect
	Code    Code
	Rule    string   // layer:path, such as worker-docs:fs.write[0]; "" where no rule spoke
	Layer   string   // the document's name; "" where no rule spoke
	Pattern string   // the rule's own text, such as a glob
	Source  Position // where the rule stands

	// Access is the one of the request's accesses that decided.
	Access
	Principal string
	Parent    string // of the principal; "" where that is not known
	Tool      string
	Timeout   int // seconds that an allowed tool may take; 0 for no limit

	// Unconfirmed says of a refusal that no rule is behind it: it took somebody's
	// yes, which was not given.
	Unconfirmed bool

	// By words the decision when somebody asks. nil has no words but those of Refused.
	By Explainer

	said string // somebody's own reason
}

// Explainer is who decided, as far as a decision has to be put into words: most
// are never read.
type Explainer interface {
	Explain(d Decision) Words
}

// Words are a decision for people and models.
type Words struct {
	Cause  string // one sentence without a full stop
	Reason string // the same with where the rule stands
	Text   string // for the one who asked: a reason, and what would be allowed
}

// Explain makes Words that are fixed an Explainer.
func (w Words) Explain(Decision) Words { return w }

// Allowed reports whether it may be done now.
func (d Decision) Allowed() bool { return d.Effect == Allow }

// Err is nil for what is allowed. Otherwise it is fs.ErrPermission under errors.Is,
// and its text is Text.
func (d Decision) Err() error {
	if d.Allowed() {
		return nil
	}
	return refused{d}
}

type refused struct{ Decision }

func (e refused) Error() string        { return e.Text() }
func (e refused) Is(target error) bool { return target == fs.ErrPermission }

// Reason is one sentence without a full stop, or what somebody said who was asked.
// It ends with where the rule stands, if a rule decided.
func (d Decision) Reason() string {
	if d.said != "" {
		return d.said
	}
	return d.words().Reason
}

// Cause is Reason without where the rule stands, for those who show Origin apart.
func (d Decision) Cause() string {
	if d.said != "" {
		return d.said
	}
	return d.words().Cause
}

// Text is what the one who asked is told. Of a file the first line is fixed, the
// next gives the reason, and the last says what would be allowed.
func (d Decision) Text() string { return d.words().Text }

func (d Decision) words() Words {
	if d.By != nil {
		return d.By.Explain(d)
	}
	return Words{d.said, d.said, d.said}
}

// Origin names the rule that decided and where it stands: "worker-docs:fs.write
// (policy.yaml:3:6)". It is "" where no rule spoke.
func (d Decision) Origin() string {
	if d.Rule == "" {
		return ""
	}
	return d.Rule + " (" + d.Source.String() + ")"
}

// Refused is the decision as somebody's refusal, with a code and a reason of
// theirs. It can only narrow.
func (d Decision) Refused(code Code, reason string) Decision {
	d.Effect, d.Code, d.said = Deny, code, reason
	return d
}

// Said is the reason that somebody gave, "" where the rules decided.
func (d Decision) Said() string { return d.said }
