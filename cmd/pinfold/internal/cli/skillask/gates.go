package skillask

import (
	"context"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// PolicyGate asks a policy before a skill touches anything: whether the skill
// is enabled, and whether its own paths allow this one. It only narrows: the
// resolver holds the rules about files on its own.
type PolicyGate struct {
	Policy *permission.Policy
	From   *policyflag.From // that names it
}

// Check implements access.Checker.
func (g PolicyGate) Check(ctx context.Context, r access.Request) access.Decision {
	d := g.Policy.Check(ctx, r)
	if d.Allowed() || r.Action.OnFiles() && IsOnlyFiles(d.Code) { // the resolver says why
		return access.Decision{Effect: access.Allow}
	}
	return Refusal("", WordsOf(d, g.From))
}

// JudgedGate puts what a call is about to do to a judge.
type JudgedGate struct {
	Judge access.Checker
	// Same is set where the resolver holds the very policy that the judge has. What
	// both refuse is then refused by the resolver, in the words that every surface
	// uses.
	Same bool
}

// Check implements access.Checker. What the rules refuse unless the judge grants
// it, the judge alone decides.
func (g JudgedGate) Check(ctx context.Context, r access.Request) access.Decision {
	d := g.Judge.Check(ctx, r)
	if !d.Allowed() && g.Same && !r.Asked && r.Action.OnFiles() && IsOnlyFiles(d.Code) {
		return access.Decision{Effect: access.Allow}
	}
	if d.Unconfirmed {
		d.Code = "" // which names a rule
	}
	return d
}

// Refusal is a refusal in these words.
func Refusal(code access.Code, text string) access.Decision {
	return access.Decision{Effect: access.Deny, Code: code, By: access.Words{Cause: text, Reason: text, Text: text}}
}

// WordsOf is why a policy refuses, with where the rule stands as from names it.
func WordsOf(d access.Decision, from *policyflag.From) string {
	d.Source = from.Placed(d.Source)
	return strings.TrimSuffix(d.Cause()+"\n"+pathresolver.OriginText(d.Origin()), "\n")
}

// IsOnlyFiles reports whether the resolver refuses by the same rule, in the
// words that every surface uses. It lets directories be listed that only lead
// to what fs.read covers, and shows of them nothing else.
func IsOnlyFiles(c access.Code) bool {
	switch c {
	case pathresolver.RuleNoWritePath, pathresolver.RuleHidden, pathresolver.RuleProtected, pathresolver.RuleOutsideRoot, pathresolver.RuleNotReadable:
		return true
	}
	return false
}

// BrokerJudge has a broker's gate for a judge.
type BrokerJudge struct{ Gate *broker.Gate }

var _ Judge = BrokerJudge{}

// Check asks the broker, which may wait for the manager.
func (g BrokerJudge) Check(ctx context.Context, r access.Request) access.Decision {
	r.Input = Input(r.Input)
	return g.Gate.Check(ctx, r)
}

// Note records what the rules refuse.
func (g BrokerJudge) Note(ctx context.Context, r access.Request) {
	r.Input = Input(r.Input)
	_ = g.Gate.Decide(ctx, r) // the refusal is the rules'
}
