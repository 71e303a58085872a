package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// OnExcess says what happens to a document that asks for more than the policy that it
// is added to.
type OnExcess uint8

const (
	// Reject refuses the document. It is the zero value.
	Reject OnExcess = iota
	// Clamp grants what the policy has, and reports the rest.
	Clamp
)

// Excess is a rule that asks for more than the policy has.
type Excess struct {
	Rule    string // layer:path
	Source  access.Position
	Message string
}

// ExcessError is the refusal of a document or policy that asks for more than
// its parent has.
type ExcessError struct{ Excess []Excess }

func (e *ExcessError) Error() string {
	lines := make([]string, len(e.Excess))
	for i, x := range e.Excess {
		lines[i] = fmt.Sprintf("%s: %s", x.Source, x.Message)
	}
	return strings.Join(lines, "\n")
}

// Narrow returns the policy with one more layer, which can only take away: what the
// document does not mention stays as it was. Its `extends` is ignored. A document that
// asks for more than the policy has is refused with an *ExcessError, or clamped and
// reported.
func (p *Policy) Narrow(src *Source, on OnExcess) (*Policy, []Excess, error) {
	rooted, err := src.rooted(p.root)
	if err != nil {
		return nil, nil, err
	}
	return p.with([]group{newGroup([]*layer{compileLayer(rooted)}, false)}, on)
}

// Child returns the policy of a child that this policy's agent starts with the policy
// q. It has both chains, so it never allows more than this one. An operator_only q is
// refused, since no agent may pass it on. Whether this policy is operator_only itself
// does not matter to its children.
func (p *Policy) Child(q *Policy, on OnExcess) (*Policy, []Excess, error) {
	for _, l := range q.layers() {
		if l.src.Document.OperatorOnly {
			at := l.src.position("operator_only")
			return nil, nil, &ExcessError{[]Excess{{Rule: l.name + ":operator_only", Source: at,
				Message: fmt.Sprintf("policy '%s' is the operator's to give: no agent passes it on", l.name)}}}
		}
	}
	return p.with(q.groups, on)
}

func (p *Policy) with(groups []group, on OnExcess) (*Policy, []Excess, error) {
	var excess []Excess
	for _, g := range groups {
		for _, l := range g.layers {
			excess = append(excess, p.exceededBy(l)...)
		}
	}
	if len(excess) > 0 && on == Reject {
		return nil, excess, &ExcessError{excess}
	}
	sources := p.Sources()
	for _, g := range groups {
		for _, l := range g.layers {
			sources = append(sources, l.src)
		}
	}
	return newPolicy(p.root, alwaysProtected(sources), slices.Concat(p.groups, groups)), excess, nil
}
