package permission

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// Grant is permission to do what a policy marks `ask`: an approval as a value. It
// turns an ask into an allow, never a deny, and only as far as the agent that gave it
// may do the same at that moment.
type Grant struct {
	// ID is what decisions name: their rule is grant:ID.
	ID string

	// Accesses are what was asked for. Permission to read includes listing, and
	// permission to write includes creating.
	Accesses []access.Access

	// Tool is the tool through which it was asked; "" for none. Where a rule about a
	// tool asks, the grant holds for that tool alone; where a rule about files asks,
	// it holds for every tool, since such rules do not look at the tool.
	Tool string

	// Digest, if not "", confines the grant to requests with these arguments.
	Digest string

	Subtree  bool // also all that lies beneath the places
	Anywhere bool // the same actions on any resource

	// By is the agent that gave it, and Within its policy. A nil Within is the
	// operator, who may do anything that is not denied.
	By     string
	Within *Policy
	// At is where the agent's project lies in that of Within, whose paths are relative
	// to its own; "" is the same.
	At string
}

// grantLayer is the layer of the rules that stand for grants.
const grantLayer = "grant"

// Granting returns the policy with grants added. It is a value like any other policy,
// and what is granted ends with it. Neither a child's policy nor what Resolver returns
// becomes wider by it.
func (p *Policy) Granting(grants ...Grant) *Policy {
	if len(grants) == 0 {
		return p
	}
	q := *p
	q.given = slices.Concat(p.given, grants)
	h := sha256.New()
	h.Write(p.hash[:])
	for _, g := range grants {
		within := hash{}
		if g.Within != nil {
			within = g.Within.hash
		}
		fmt.Fprintf(h, "%q %q %q %q %t %t %q %x %q\n", g.ID, g.Accesses, g.Tool, g.Digest, g.Subtree, g.Anywhere, g.By, within, g.At)
	}
	h.Sum(q.hash[:0])
	return &q
}

// lift turns what is asked for into what is allowed, where a grant covers it.
func (e Enforcer) lift(f finding, q *question, req *access.Request, aboutTool bool) finding {
	for i := range e.Policy.given {
		g := &e.Policy.given[i]
		if g.Digest != "" && g.Digest != req.ArgsDigest || aboutTool && g.Tool != q.tool || !g.covers(q.Access) {
			continue
		}
		if g.Within != nil {
			there := q.In(g.At)
			same := access.Request{Principal: g.By, Action: there.Action, Resource: there.Resource, Tool: req.Tool, ArgsDigest: req.ArgsDigest}
			if !(Enforcer{g.Within, e.Registry}).decide(same, nil).Allowed() {
				continue
			}
		}
		id := "grant:" + g.ID
		return finding{opinion: allowed, code: CodeAllowed, rule: &rule{id: id, layer: grantLayer, text: q.Resource, at: access.Position{File: id}}}
	}
	return f
}

func (g *Grant) covers(a access.Access) bool {
	return slices.ContainsFunc(g.Accesses, func(o access.Access) bool {
		if o.Action.GrantedAs() != a.Action.GrantedAs() {
			return false
		}
		if g.Anywhere || o.Resource == a.Resource {
			return true
		}
		rest, beneath := strings.CutPrefix(a.Resource, o.Resource)
		whole := o.Resource == "." && placeKind(a.Resource) == aPlace
		return g.Subtree && o.Action.OnFiles() && (whole || beneath && strings.HasPrefix(rest, "/"))
	})
}
