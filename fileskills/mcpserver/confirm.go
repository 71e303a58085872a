package mcpserver

import (
	"context"
	"fmt"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
)

// Confirm is a gate that asks the person in front of the client, by
// elicitation, before anything is written. It refuses where nobody can be
// asked: in a client without elicitation, and in calls that do not come through a
// Server. It waits as long as the person does. next, if it is not nil, is asked
// first and may refuse. Give it to fileskills.New.
func Confirm(next fileskills.Gate) fileskills.Gate { return confirm{next} }

type confirm struct{ next fileskills.Gate }

// confirmedPath is the longest path that a person is shown, in bytes. A longer
// one is refused: by what is left out of it, it could lead anywhere.
const confirmedPath = 1024

// verbs are what an action means to a person.
var verbs = map[access.Action]string{
	access.FSWrite:  "write",
	access.FSCreate: "make",
	access.FSDelete: "delete",
	access.FSMove:   "move",
}

func (g confirm) Check(ctx context.Context, r access.Request) access.Decision {
	if g.next != nil {
		if d := g.next.Check(ctx, r); !d.Allowed() {
			return d
		}
	}
	if kind := r.Action.Kind(); kind == access.KindRead || kind == access.KindTool {
		return access.Decision{Effect: access.Allow}
	}
	verb := verbs[r.Action]
	if verb == "" {
		verb = "use"
	}
	if len(r.Path) > confirmedPath || len(r.Resource) > confirmedPath {
		return unconfirmed(fmt.Sprintf("a path of more than %d bytes is not shown to anybody", confirmedPath))
	}
	// The place, not the path: that is what is written, whatever the path led to.
	// %q: what a model names moves no cursor and forges no line.
	if err := Ask(ctx, fmt.Sprintf("%s wants to %s %q. Allow it?", r.Tool, verb, r.Resource)); err != nil {
		return unconfirmed(err.Error())
	}
	return access.Decision{Effect: access.Allow}
}

// unconfirmed is the refusal of what nobody said yes to.
func unconfirmed(why string) access.Decision {
	return access.Decision{Unconfirmed: true}.Refused("", why)
}
