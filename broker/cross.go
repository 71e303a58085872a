package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// Cross is the send ACL of an agent: as `agents cross` has set it, and all that is in
// force. What was set is intersected with what the agent's policy says, so it never widens
// that.
type Cross struct {
	Agent     string          `json:"agent"`
	Mode      permission.Mode `json:"mode"` // "" where nothing is set: the policy's, or the default
	Allowlist []string        `json:"allowlist"`
	Denylist  []string        `json:"denylist"`

	// InForce are the lists that a message must pass, each of them; one of mode bypass
	// where nothing is in its way.
	InForce []CrossList `json:"in_force"`
}

// CrossList is one list that is in force.
type CrossList struct {
	Mode     permission.Mode `json:"mode"`
	Patterns []string        `json:"patterns"` // that are allowed or denied, as the mode says; none for bypass
	From     string          `json:"from"`     // the document that has it, "agents cross" or "default"
}

// CrossChange is one change to a send ACL; one field is set.
type CrossChange struct {
	Mode   permission.Mode // bypass, allowlist or denylist; both lists are kept
	Allow  string          // a pattern to add to the allowlist
	Deny   string          // a pattern to add to the denylist
	Remove string          // a pattern to take out of the lists
	Clear  bool            // back to the default
}

// Cross shows an agent's send ACL to the operator and to the agent's managers.
func (b *Broker) Cross(ctx context.Context, who Identity, id string) (Cross, error) {
	var c Cross
	err := b.view(ctx, func(tx ReadTx) error {
		if err := known(tx, who); err != nil {
			return err
		}
		a, err := descendant(tx, who, id)
		if err == nil {
			c, err = b.crossOf(tx, a)
		}
		return err
	})
	return c, b.guessed(ctx, who, "cross", id, err)
}

// SetCross changes an agent's send ACL, for the operator, and for the agent's
// managers as far as their own policies let them (policy.edit): it waits where that has to
// be asked for. The text says what was done: from which list a pattern was removed.
// The first list that is given sets the mode, where none is set.
func (b *Broker) SetCross(ctx context.Context, who Identity, id string, change CrossChange) (c Cross, text string, err error) {
	if !b.attempts.admit(who) {
		return Cross{}, "", tooOften()
	}
	call := access.Request{Action: access.PolicyEdit, Resource: id, MayBlock: true, Input: change.shown(id)}
	err = b.asking(ctx, who, &call, func() error {
		return b.update(ctx, func(t *tx) error {
			a, err := t.mayEdit(ctx, who, &call)
			if err == nil {
				text, err = change.apply(&a)
			}
			if err == nil {
				err = t.keep(who, costRecord)
			}
			var refusal *Error
			if errors.As(err, &refusal) {
				return t.refused(who, "cross", id, refusal)
			}
			if err != nil {
				return err
			}
			if c, err = b.crossOf(t, a); err != nil {
				return err
			}
			if err := t.UpdateAgent(a, a.State); err != nil {
				return err
			}
			t.record(Record{Principal: who.String(), Action: "cross", Resource: id, Effect: access.Allow, Code: permission.CodeAllowed, Reason: text})
			t.Notify(agentTopic(id))
			return nil
		})
	})
	return c, text, err
}

// mayEdit is the agent beneath who whose rights are to be changed. An agent has to have
// leave of its own policy: that it hired somebody is none.
func (t *tx) mayEdit(ctx context.Context, who Identity, call *access.Request) (Agent, error) {
	if err := known(t, who); err != nil {
		return Agent{}, err
	}
	a, err := descendant(t, who, call.Resource)
	if err != nil || who.operator {
		return a, err
	}
	editor, err := live(t, who)
	if err == nil {
		err = t.permitted(ctx, editor, call)
	}
	return a, err
}

// shown is the change as a manager reads it who is asked for leave.
func (c CrossChange) shown(id string) []byte {
	shown := map[string]string{"agent": id}
	for name, value := range map[string]string{"mode": string(c.Mode), "allow": c.Allow, "deny": c.Deny, "remove": c.Remove} {
		if value != "" {
			shown[name] = value
		}
	}
	if c.Clear {
		shown["clear"] = "back to the default"
	}
	return jsonOf(shown)
}

// crossSource is how the document is called that agents cross makes.
const crossSource = "agents cross"

func (b *Broker) crossOf(tx ReadTx, a Agent) (Cross, error) {
	c := Cross{Agent: a.ID, Allowlist: []string{}, Denylist: []string{}}
	if x := a.CrossSend; x != nil {
		c.Mode, c.Allowlist, c.Denylist = x.Mode, append(c.Allowlist, x.Allowlist...), append(c.Denylist, x.Denylist...)
	}
	p, err := b.hiredPolicy(tx, a)
	if err != nil {
		return c, err
	}
	c.InForce = inForce(p, a)
	return c, nil
}

// inForce are the lists of a policy, outermost first. A bypass beside another list says
// nothing; where no document has a list, the default holds.
func inForce(p *permission.Policy, a Agent) []CrossList {
	var lists []CrossList
	var bypass *CrossList
	for _, src := range p.Sources() {
		x := src.Document.CrossSend
		if x == nil {
			continue
		}
		from := sourceName(src)
		if src.File == crossSource+" "+a.ID {
			from = crossSource
		}
		list := CrossList{Mode: x.Mode, From: from, Patterns: []string{}}
		switch x.Mode {
		case permission.Allowlist:
			list.Patterns = append(list.Patterns, x.Allowlist...)
		case permission.Denylist:
			list.Patterns = append(list.Patterns, x.Denylist...)
		default:
			bypass = &list
			continue
		}
		lists = append(lists, list)
	}
	switch {
	case len(lists) > 0:
		return lists
	case bypass != nil:
		return []CrossList{*bypass}
	}
	return []CrossList{{
		Mode: permission.Allowlist, From: "default",
		Patterns: []string{"agent:" + recipientOf(a.ParentID) + ":*", "agent:" + a.ID + ":*"},
	}}
}

func (c CrossChange) apply(a *Agent) (string, error) {
	if c.Clear {
		a.CrossSend = nil
		return "cleared: back to the default", nil
	}
	x := permission.CrossSend{}
	if a.CrossSend != nil {
		x = *a.CrossSend
	}
	x.Allowlist, x.Denylist = slices.Clone(x.Allowlist), slices.Clone(x.Denylist)
	var text string
	switch {
	case c.Mode != "":
		x.Mode, text = c.Mode, fmt.Sprintf("mode: %s", c.Mode)
	case c.Allow != "":
		text = "allowed: " + c.Allow
		x.Allowlist = with(x.Allowlist, c.Allow)
		x.Mode = orMode(x.Mode, permission.Allowlist)
	case c.Deny != "":
		text = "denied: " + c.Deny
		x.Denylist = with(x.Denylist, c.Deny)
		x.Mode = orMode(x.Mode, permission.Denylist)
	case c.Remove != "":
		in := func(p string) bool { return p == c.Remove }
		switch {
		case slices.ContainsFunc(x.Allowlist, in):
			text = "removed from the allowlist: " + c.Remove
		case slices.ContainsFunc(x.Denylist, in):
			text = "removed from the denylist: " + c.Remove
		default:
			return "", refuse(CodeNotFound, "the pattern %q is in no list", shown(c.Remove, maxShown))
		}
		if slices.ContainsFunc(x.Allowlist, in) && slices.ContainsFunc(x.Denylist, in) {
			text = "removed from the allowlist and the denylist: " + c.Remove
		}
		x.Allowlist, x.Denylist = slices.DeleteFunc(x.Allowlist, in), slices.DeleteFunc(x.Denylist, in)
	default:
		return "", refuse(CodeInvalid, "nothing is to be changed")
	}
	if len(x.Allowlist) > maxPatterns || len(x.Denylist) > maxPatterns {
		return "", refuse(CodeTooMany, "a list has at most %d patterns", maxPatterns)
	}
	if _, err := permission.FromDocument("cross", permission.Document{Version: 1, CrossSend: &x}); err != nil {
		return "", refuse(CodeInvalid, "%s", err)
	}
	a.CrossSend = &x
	return text, nil
}

func with(list []string, p string) []string {
	if slices.Contains(list, p) {
		return list
	}
	return append(list, p)
}

func orMode(m, otherwise permission.Mode) permission.Mode {
	if m == "" {
		return otherwise
	}
	return m
}
