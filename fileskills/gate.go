package fileskills

import (
	"errors"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Gate is asked before a skill touches anything, about what the rules of the FS
// allow: whether the skill may be used (tool.use), and then about every Use of the
// call, in the order of the arguments, each once. The first refusal ends the call. Request.Resource is the place that
// the path led to, at which the skill acts and nowhere else, Request.Path how the
// call spelled it, and Request.Input the whole input. None of it says who calls:
// that is the gate's to know.
//
// It can only narrow: what it allows, the FS still may refuse; but see
// Config.GateGrants. It may block (somebody is asked) and must return when ctx is done.
// Of a refusal the model is shown Decision.Text, and Decision.Code if there is one.
//
// A search is asked about once, at the place it begins at, and not for each
// file: what must not be found beneath it is for the FS to hide, as
// pathresolver.Config.Hide does.
type Gate = access.Checker

// maxAsked is how many places of one call are asked for.
const maxAsked = 64

// admit asks the rules about all uses, and then the gate about the skill and each
// use: nobody is asked about what is refused anyway.
func (c *call) admit(uses []use) error {
	type resolvedUse struct {
		use
		place string
		asked *pathresolver.DeniedError
	}
	all := make([]resolvedUse, 0, 2)
	for i, u := range uses {
		if slices.Contains(uses[:i], u) {
			continue
		}
		place, err := c.fs.Resolve(u.Action, u.Path)
		asked := c.asked(err)
		// Without a gate the act meets what the system says.
		if err != nil && asked == nil && (c.set.gate != nil || errors.As(err, new(*pathresolver.DeniedError))) {
			return c.explain(err, u.Path)
		}
		all = append(all, resolvedUse{u, place, asked})
	}
	if c.set.gate == nil || len(uses) == 0 {
		return c.ended(nil, "")
	}
	about := uses[0].Path
	if d := c.check(access.Access{Action: access.ToolUse, Resource: c.skill.name}, "", false); !d.Allowed() {
		return c.ended(c.refusedByGate(d, about), about)
	}
	for _, u := range all {
		if u.asked != nil {
			if err := c.askFor(u.asked); err != nil {
				return err
			}
			continue
		}
		if d := c.check(access.Access{Action: u.Action, Resource: u.place}, u.Path, false); !d.Allowed() {
			return c.ended(c.refusedByGate(d, u.Path), u.Path)
		}
	}
	return nil
}

// ended is the end of the call's context, if it has come, in place of what a gate
// said that was asked meanwhile.
func (c *call) ended(err error, unsafePath string) error {
	if over := c.ctx.Err(); over != nil {
		return c.explain(over, unsafePath)
	}
	return err
}

func (c *call) check(a access.Access, unsafePath string, asked bool) access.Decision {
	return c.set.gate.Check(c.ctx, access.Request{
		Tool: c.skill.name, Action: a.Action, Resource: a.Resource, Path: unsafePath, Input: slices.Clone(c.input), Asked: asked, MayBlock: true,
	})
}

// asked is a refusal that the gate may lift: nil for every other error.
func (c *call) asked(err error) *pathresolver.DeniedError {
	var denied *pathresolver.DeniedError
	if c.pinned == nil || !c.set.grants || !errors.As(err, &denied) || denied.Rule != pathresolver.RuleAsk || denied.Place == "" {
		return nil
	}
	return denied
}

// askFor asks the gate for what a rule refuses until somebody allows it. nil is
// that it was granted, to this call.
func (c *call) askFor(denied *pathresolver.DeniedError) error {
	a := access.Access{Action: denied.Op.Action(), Resource: denied.Place}
	switch {
	case slices.Contains(c.pinned.given, a): // and yet it is refused
		return c.explain(denied, denied.Path)
	case c.grants >= maxAsked:
		return fail(CodePathBlocked, "", "%s needs to be allowed at too many places at once. Nothing was changed.", c.skill.name).hint("Do it in parts.")
	}
	d := c.check(a, denied.Path, true)
	if d.Allowed() {
		c.grants++
		c.pinned.grant(a)
		return nil
	}
	e := c.refused(denied)
	if d.Unconfirmed {
		e = c.refusedByGate(d, denied.Path)
	} else {
		e.Code = Code(d.Code)
		e.Message, e.Hint, _ = strings.Cut(d.Text(), "\n")
	}
	return c.ended(e, denied.Path)
}

// denies is the refusal of an action by the rules; nil for none.
func (c *call) denies(a access.Action, unsafePath string) error {
	var denied *pathresolver.DeniedError
	if _, err := c.fs.Resolve(a, unsafePath); errors.As(err, &denied) {
		return denied
	}
	return nil
}
