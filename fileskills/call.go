package fileskills

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Call runs one skill: decode, ask the rules and the gate about every path
// argument, act. The error is always an *Error, fit to be shown to the model.
// When ctx ends before the act took effect, the code is cancelled, or timeout
// where a deadline passed, and nothing was changed.
func (s *Set) Call(ctx context.Context, name string, input json.RawMessage) (res *Result, err error) {
	k := byName()[name]
	if k == nil {
		return nil, s.unknown(name)
	}
	if e := s.offers(k); e != nil {
		return nil, e
	}
	c := &call{set: s, fs: s.fs, skill: k, ctx: ctx}
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, fail(CodeIOError, "", "%s failed by a fault of its own: %s", k.name, clip(fmt.Sprint(p), 200))
		}
	}()
	in := k.new()
	if err := k.decode(input, in); err != nil {
		return nil, err
	}
	uses, err := k.shape().uses(reflect.ValueOf(in).Elem(), make([]Use, 0, 2))
	if err != nil {
		return nil, c.explain(err, "")
	}
	for _, u := range uses {
		if err := c.admit(u, input); err != nil {
			return nil, err
		}
	}
	if s.timeout != nil {
		if most := s.timeout(k.name); most > 0 {
			var cancel context.CancelFunc
			c.ctx, cancel = context.WithTimeout(ctx, most)
			defer cancel()
		}
	}
	res, err = k.act(c.ctx, c, in)
	if err != nil {
		first := ""
		if len(uses) > 0 {
			first = uses[0].Path
		}
		return nil, c.explain(err, first)
	}
	return res, nil
}

// unknown is the refusal of a name that no skill has.
func (s *Set) unknown(name string) *Error {
	e := fail(CodeUnknownSkill, "", "there is no skill %q", clip(name, 60))
	var names []string
	for _, k := range all {
		if s.offers(k) == nil {
			names = append(names, k.name)
		}
	}
	if like := nearest(name, names); like != "" {
		e.Hint = fmt.Sprintf("Did you mean %s?", like)
	} else {
		e.Hint = "There are: " + strings.Join(names, ", ") + "."
	}
	return e
}

// call is what a skill has while it runs.
type call struct {
	set   *Set
	fs    FS
	skill *skill
	ctx   context.Context

	reported time.Time // when progress was reported last
}

// admit asks the rules, and then the gate, about one use: nobody is asked about
// what is refused anyway.
func (c *call) admit(u Use, input json.RawMessage) error {
	if err := c.ctx.Err(); err != nil {
		return c.explain(err, u.Path)
	}
	if err := c.fs.Allows(u.Action, u.Path); err != nil {
		return c.explain(err, u.Path)
	}
	if c.set.gate == nil {
		return nil
	}
	d := c.set.gate.Check(c.ctx, Request{Skill: c.skill.name, Use: u, Input: slices.Clone(input)})
	if d.Allow {
		return nil
	}
	if err := c.ctx.Err(); err != nil {
		return c.explain(err, u.Path)
	}
	return c.refusedByGate(d, u.Path)
}

// progress reports how far a long search has come, where somebody listens.
func (c *call) progress(p Progress) {
	report, _ := c.ctx.Value(progressKey{}).(func(Progress))
	if report == nil {
		return
	}
	if now := time.Now(); now.Sub(c.reported) >= time.Second/10 {
		c.reported = now
		report(p)
	}
}
