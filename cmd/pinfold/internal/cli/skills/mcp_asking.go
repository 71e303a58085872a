package skills

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/skillask"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// callJudge answers the questions of a server's calls: what a policy that was
// named denies is denied; the agent's own is the broker's to judge; and what is
// to be asked for the user in front of the client is asked for, or the manager.
type callJudge struct {
	policy *permission.Policy // that was named by flags; nil: none
	named  *policyflag.From
	agent  *ownAgent // nil: there is no broker
	person bool      // ask the client's user first
	nobody bool      // ask nobody
}

var _ skillask.Judge = callJudge{}

// grantRule is the rule of a grant: its id is no part of a document, whatever
// name that has.
var grantRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^grant:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`) })

// Check implements access.Checker. With Confirm, Reason is why somebody has to say
// yes though the policy allows it.
func (j callJudge) Check(ctx context.Context, r access.Request) access.Decision {
	asked, refusal := false, access.Decision{}
	if j.policy != nil {
		for _, a := range r.Each() {
			d := j.policy.Check(ctx, access.Request{Action: a.Action, Resource: a.Resource, Tool: r.Tool})
			switch {
			case !r.Asked && skillask.IsOnlyFiles(d.Code): // the resolver holds the same rule, in the words of every surface
			case d.Effect == access.Deny:
				return skillask.Refusal(d.Code, skillask.WordsOf(d, j.named))
			case d.Effect == access.Ask && !asked:
				asked, refusal = true, skillask.Refusal(d.Code, skillask.WordsOf(d, j.named))
			}
		}
	}
	if r.Confirm && !asked {
		asked, refusal = true, skillask.Refusal(pathresolver.RuleAsk, r.Reason)
	}
	switch {
	case asked && (j.nobody || j.agent == nil && !j.person):
		return refusal
	case j.agent == nil && !asked:
		return access.Decision{Effect: access.Allow}
	case j.agent == nil:
		return byPerson(askPerson(ctx, r))
	}
	body := bodyOf(r)
	if j.person || j.nobody {
		body.Probe = true
		d, err := j.agent.Decide(ctx, body)
		if err != nil || j.nobody || d.Effect == access.Deny || d.Allowed() && !asked {
			return onWire(d, err)
		}
		err = askPerson(ctx, r)
		if !errors.Is(err, mcpserver.ErrCannotAsk) && !errors.Is(err, mcpserver.ErrNobody) {
			return byPerson(err)
		}
	}
	d, err := j.agent.DecideWaiting(ctx, body) // which is no probe
	if d.Allowed() && asked && !r.Confirm && !grantRule().MatchString(d.Rule) {
		// The flags' policy wants asked for what the agent's own just allows:
		// then its manager is never asked.
		return skillask.Refusal(pathresolver.RuleAsk, "it has to be asked for by the policy of the flags, and the agent's own has nobody asked")
	}
	return onWire(d, err)
}

// Note implements skillask.Judge.
func (j callJudge) Note(ctx context.Context, r access.Request) {
	if j.agent != nil {
		body := bodyOf(r)
		body.Probe = true
		// The refusal is the rules'; a broker that is away makes it no weaker.
		_, _ = j.agent.Decide(ctx, body)
	}
}

// bodyOf is a question for the wire.
func bodyOf(r access.Request) brokerhttp.DecideBody {
	return brokerhttp.DecideBody{
		Action: r.Action, Resource: r.Resource, Also: r.Also, Tool: r.Tool,
		Input: string(skillask.Input(r.Input)), Confirm: r.Confirm, Reason: r.Reason,
	}
}

// byPerson is the answer of the client's user.
func byPerson(err error) access.Decision {
	if err != nil {
		d := skillask.Refusal(pathresolver.RuleAsk, err.Error())
		d.Unconfirmed = true
		return d
	}
	return access.Decision{Effect: access.Allow}
}

// onWire is a broker's answer. None is a refusal.
func onWire(d brokerhttp.Decided, err error) access.Decision {
	if err != nil {
		return skillask.Refusal("unavailable", "the broker did not answer: "+err.Error())
	}
	return access.Decision{Effect: d.Effect, Code: d.Code, Rule: d.Rule, Timeout: d.Timeout, By: access.Words{Cause: d.Reason, Reason: d.Reason, Text: d.Text}}
}

// maxAskedPlace is the longest place that a person is asked about, in bytes: of
// it nothing may be left out.
const maxAskedPlace = 1 << 10

func askPerson(ctx context.Context, r access.Request) error {
	if len(r.Resource) > maxAskedPlace {
		return fmt.Errorf("a path of more than %d bytes is not shown to anybody", maxAskedPlace)
	}
	return mcpserver.Ask(ctx, askText(r))
}

// maxAskedText is how much of the arguments a person is shown, in bytes.
const maxAskedText = 1 << 10

// askText is the question to a person. What a model wrote is escaped: it moves
// no cursor and forges no line.
func askText(r access.Request) string {
	shown := string(r.Input)
	if len(shown) > maxAskedText {
		shown = strings.ToValidUTF8(shown[:maxAskedText], "") + "…"
	}
	what := fmt.Sprintf("%s wants %s of %q", r.Tool, r.Action, r.Resource)
	if r.Action == access.ToolUse {
		what = fmt.Sprintf("%q is to be called", r.Resource)
	}
	return what + ", which the policy wants asked for. Arguments: " + pathresolver.EscapePath(shown) + "\nAllow it, this once?"
}
