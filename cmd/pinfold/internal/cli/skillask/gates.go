package skillask

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// PolicyGate asks a policy before a skill touches anything: whether the skill
// is enabled, and whether its own paths allow this one. It only narrows: the
// resolver holds the rules about files on its own.
type PolicyGate struct {
	Policy   *permission.Policy
	From     *policyflag.From // that names it
	Resolver *pathresolver.Resolver
}

var _ fileskills.Gate = PolicyGate{}

// Check asks about the place that the path leads to. A path that leads nowhere
// the resolver refuses in its own words.
func (g PolicyGate) Check(ctx context.Context, r fileskills.Request) fileskills.Decision {
	d := g.Policy.Check(ctx, access.Request{Action: access.ToolUse, Resource: r.Skill})
	if d.Allowed() {
		place := placeOfUse(g.Resolver, r.Use)
		if place == "" {
			return fileskills.Decision{Allow: true} // which it is not: the resolver says why
		}
		d = g.Policy.Check(ctx, access.Request{Action: r.Use.Action, Resource: place, Tool: r.Skill})
		if IsOnlyFiles(d.Code) {
			return fileskills.Decision{Allow: true} // likewise
		}
	}
	if d.Allowed() {
		return fileskills.Decision{Allow: true}
	}
	d.Source = g.From.Placed(d.Source)
	return fileskills.Decision{Reason: strings.TrimSuffix(d.Cause()+"\n"+pathresolver.OriginText(d.Origin()), "\n")}
}

// placeOfUse is where a path leads that a skill uses, "" where that is no place. A
// move and a removal are about the name itself: asked about where a link leads,
// a policy would judge another file.
func placeOfUse(r *pathresolver.Resolver, u fileskills.Use) string {
	op, ok := u.Action.Op()
	if !ok {
		return ""
	}
	return r.Explain(op, u.Path).Place
}

// IsOnlyFiles reports whether the resolver refuses by the same rule, in the
// words that every surface uses. It lets directories be listed that only lead
// to what fs.read covers, and shows of them nothing else.
func IsOnlyFiles(c access.Code) bool {
	switch c {
	case permission.CodeNoWritePath, permission.CodeHidden, permission.CodeProtected, permission.CodeOutsideRoot, permission.CodeNotReadable:
		return true
	}
	return false
}

// BrokerJudge has a broker's gate for a judge.
type BrokerJudge struct{ Gate *broker.Gate }

// Decide asks the broker, which may wait for the manager.
func (g BrokerJudge) Decide(ctx context.Context, q Question, input json.RawMessage) Verdict {
	d := g.Gate.Check(ctx, q.call(input))
	return Verdict{Allowed: d.Allowed(), Code: d.Code, Reason: d.Reason(), Text: d.Text()}
}

// Note records what the rules refuse.
func (g BrokerJudge) Note(ctx context.Context, q Question, input json.RawMessage) {
	_ = g.Gate.Decide(ctx, q.call(input)) // the refusal is the rules'
}

// call is the question as a broker takes it.
func (q Question) call(input json.RawMessage) access.Request {
	return access.Request{Action: q.Action, Resource: q.Place, Tool: q.Tool, MayBlock: true, Input: Input(input)}
}
