package policy

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// whyAnswer is the answer of why as JSON: the policy's, and beside it the grant
// that allows all the same.
type whyAnswer struct {
	pathresolver.Decision
	Grant *whyGrant `json:"grant,omitempty"`
	// Denial is what the agent was told when it was asked for and denied.
	Denial string `json:"denial,omitempty"`
}

// whyGrant is leave that was given for what the policy wants asked for.
type whyGrant struct {
	ID    string       `json:"id"`
	Scope broker.Scope `json:"scope"`
	Until time.Time    `json:"until,omitzero"` // zero: as long as the agent
}

func (g *whyGrant) String() string {
	text := "the grant " + pathresolver.EscapePath(g.ID) + " allows it now: scope " + pathresolver.EscapePath(string(g.Scope))
	if !g.Until.IsZero() {
		text += ", until " + g.Until.Format(time.RFC3339)
	}
	return text
}

// whyWait is how long the broker has to answer.
const whyWait = 10 * time.Second

// grantFor asks the broker of the run that this process is in whether what has
// to be asked for was granted, and what was said if it was denied; nil and "" where
// it was neither, or the broker does not say: the policy's answer stands without it.
func grantFor(ctx context.Context, op pathresolver.Op, place string) (grant *whyGrant, denial string) {
	at, err := brokerhttp.FromEnvironment(os.Getenv)
	if err != nil {
		return nil, ""
	}
	c, err := brokerhttp.NewClient(at)
	if err != nil {
		return nil, ""
	}
	defer c.Close()
	ctx, stop := context.WithTimeout(ctx, whyWait)
	defer stop()
	d, err := c.Decide(ctx, brokerhttp.DecideBody{Action: op.Action(), Resource: place, Peek: true})
	id, granted := strings.CutPrefix(d.Rule, "grant:")
	if err != nil || !d.Allowed() || !granted {
		return nil, d.Denial
	}
	r, err := c.Request(ctx, id)
	if err != nil {
		return nil, ""
	}
	return &whyGrant{ID: r.ID, Scope: r.Scope, Until: r.Until}, ""
}
