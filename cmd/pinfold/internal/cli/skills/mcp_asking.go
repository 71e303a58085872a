package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

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
var grantRule = regexp.MustCompile(`^grant:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func (j callJudge) Decide(ctx context.Context, q skillask.Question, input json.RawMessage) skillask.Verdict {
	asked, refusal := false, skillask.Verdict{}
	if j.policy != nil {
		for _, a := range q.Each() {
			d := j.policy.Check(ctx, access.Request{Action: a.Action, Resource: a.Resource, Tool: q.Tool})
			switch {
			case skillask.IsOnlyFiles(d.Code): // the resolver holds the same rule, in the words of every surface
			case d.Effect == access.Deny:
				return j.denied(d)
			case d.Effect == access.Ask && !asked:
				asked, refusal = true, j.denied(d)
			}
		}
	}
	if q.Confirm != "" && !asked {
		asked, refusal = true, skillask.Verdict{Code: permission.CodeAsk, Reason: q.Confirm, Text: q.Confirm}
	}
	switch {
	case asked && (j.nobody || j.agent == nil && !j.person):
		return refusal
	case j.agent == nil && !asked:
		return skillask.Verdict{Allowed: true}
	case j.agent == nil:
		return byPerson(askPerson(ctx, q, input))
	}
	body := brokerhttp.DecideBody{
		Action: q.Action, Resource: q.Place, Tool: q.Tool, Input: string(skillask.Input(input)), Confirm: q.Confirm != "", Reason: q.Confirm,
	}
	for _, a := range q.Also {
		body.Also = append(body.Also, brokerhttp.AccessBody(a))
	}
	if j.person || j.nobody {
		body.Probe = true
		d, err := j.agent.Decide(ctx, body)
		if err != nil || j.nobody || d.Effect == access.Deny || d.Allowed() && !asked {
			return onWire(d, err)
		}
		err = askPerson(ctx, q, input)
		if !errors.Is(err, mcpserver.ErrCannotAsk) && !errors.Is(err, mcpserver.ErrNobody) {
			return byPerson(err)
		}
	}
	d, err := j.agent.DecideWaiting(ctx, body) // which is no probe
	if d.Allowed() && asked && q.Confirm == "" && !grantRule.MatchString(d.Rule) {
		// The flags' policy wants asked for what the agent's own just allows:
		// then its manager is never asked.
		const why = "it has to be asked for by the policy of the flags, and the agent's own has nobody asked"
		return skillask.Verdict{Code: permission.CodeAsk, Reason: why, Text: why}
	}
	return onWire(d, err)
}

func (j callJudge) Note(ctx context.Context, q skillask.Question, input json.RawMessage) {
	if j.agent != nil {
		// The refusal is the rules'; a broker that is away makes it no weaker.
		_, _ = j.agent.Decide(ctx, brokerhttp.DecideBody{Action: q.Action, Resource: q.Place, Tool: q.Tool, Input: string(skillask.Input(input)), Probe: true})
	}
}

// denied is a refusal by the policy that was named.
func (j callJudge) denied(d access.Decision) skillask.Verdict {
	d.Source = j.named.Placed(d.Source)
	reason := strings.TrimSuffix(d.Cause()+"\n"+pathresolver.OriginText(d.Origin()), "\n")
	return skillask.Verdict{Code: d.Code, Reason: reason, Text: reason}
}

// byPerson is the answer of the client's user.
func byPerson(err error) skillask.Verdict {
	if err != nil {
		return skillask.Verdict{Unconfirmed: true, Code: permission.CodeAsk, Reason: err.Error(), Text: err.Error()}
	}
	return skillask.Verdict{Allowed: true}
}

// onWire is a broker's answer. None is a refusal.
func onWire(d brokerhttp.Decided, err error) skillask.Verdict {
	if err != nil {
		text := "the broker did not answer: " + err.Error()
		return skillask.Verdict{Code: "unavailable", Reason: text, Text: text}
	}
	return skillask.Verdict{Allowed: d.Allowed(), Code: d.Code, Reason: d.Reason, Text: d.Text}
}

// maxAskedPlace is the longest place that a person is asked about, in bytes: of
// it nothing may be left out.
const maxAskedPlace = 1 << 10

func askPerson(ctx context.Context, q skillask.Question, input json.RawMessage) error {
	if len(q.Place) > maxAskedPlace {
		return fmt.Errorf("a path of more than %d bytes is not shown to anybody", maxAskedPlace)
	}
	return mcpserver.Ask(ctx, askText(q, input))
}

// maxAskedText is how much of the arguments a person is shown, in bytes.
const maxAskedText = 1 << 10

// askText is the question to a person. What a model wrote is escaped: it moves
// no cursor and forges no line.
func askText(q skillask.Question, input json.RawMessage) string {
	shown := string(input)
	if len(shown) > maxAskedText {
		shown = strings.ToValidUTF8(shown[:maxAskedText], "") + "…"
	}
	what := fmt.Sprintf("%s wants %s of %q", q.Tool, q.Action, q.Place)
	if q.Action == access.ToolUse {
		what = fmt.Sprintf("%q is to be called", q.Place)
	}
	return what + ", which the policy wants asked for. Arguments: " + pathresolver.EscapePath(shown) + "\nAllow it, this once?"
}
