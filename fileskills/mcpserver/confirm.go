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

func (g confirm) Check(ctx context.Context, r fileskills.Request) fileskills.Decision {
	if g.next != nil {
		if d := g.next.Check(ctx, r); !d.Allow {
			return d
		}
	}
	if r.Use.Action.Kind() == access.KindRead {
		return fileskills.Decision{Allow: true}
	}
	verb := verbs[r.Use.Action]
	if verb == "" {
		verb = "use"
	}
	path := r.Use.Path
	if len(path) > confirmedPath {
		return unconfirmed(fmt.Sprintf("a path of more than %d bytes is not shown to anybody", confirmedPath))
	}
	// %q: what a model names moves no cursor and forges no line.
	if err := Ask(ctx, fmt.Sprintf("%s wants to %s %q. Allow it?", r.Skill, verb, path)); err != nil {
		return unconfirmed(err.Error())
	}
	return fileskills.Decision{Allow: true}
}

// unconfirmed is the refusal of what nobody said yes to.
func unconfirmed(why string) fileskills.Decision {
	return fileskills.Decision{Unconfirmed: true, Reason: why}
}
