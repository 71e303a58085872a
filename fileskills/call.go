package fileskills

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
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
	c := s.begin(ctx, k, input)
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, fail(CodeIOError, "", "%s failed by a fault of its own: %s", k.name, clip(fmt.Sprint(p), 200))
		}
	}()
	in, uses, err := c.decode()
	if err != nil {
		return nil, err
	}
	first := ""
	if len(uses) > 0 {
		first = uses[0].Path
	}
	if err := c.ended(nil, first); err != nil {
		return nil, err
	}
	if !c.decidesItself(uses) {
		if err := c.admit(uses); err != nil {
			return nil, err
		}
	}
	for {
		res, err := c.act(in)
		denied := c.asked(err)
		if denied == nil {
			if err != nil {
				return nil, c.explain(err, first)
			}
			return res, nil
		}
		if err := c.askFor(denied); err != nil { // what only the act came to
			return nil, err
		}
		if in, _, err = c.decode(); err != nil { // the act may have changed it
			return nil, err
		}
	}
}

// begin is a call of a skill.
func (s *Set) begin(ctx context.Context, k *skill, input json.RawMessage) *call {
	c := &call{set: s, fs: s.fs, skill: k, ctx: ctx, input: input}
	if f, ok := s.fs.(*resolverFS); ok {
		c.pinned = &pinned{resolverFS: *f, own: f.r, bound: behind(f.r).Bound()}
		c.fs = c.pinned
	}
	return c
}

// decode reads the input, and lists what it is about to do.
func (c *call) decode() (in any, uses []use, err error) {
	in = c.skill.new()
	if err := c.skill.decode(c.input, in); err != nil {
		return nil, nil, err
	}
	if uses, err = c.skill.shape().uses(reflect.ValueOf(in).Elem(), make([]use, 0, 2)); err != nil {
		return nil, nil, c.explain(err, "")
	}
	return in, uses, nil
}

// decidesItself reports whether asking first would find out nothing: nobody is
// asked, and the one thing that the act does, opening or replacing a file, decides
// about that by the same handle. Over an FS of somebody else's the act is trusted
// with less.
func (c *call) decidesItself(uses []use) bool {
	return c.set.gate == nil && c.pinned != nil && len(uses) == 1 && (c.skill == readFile || c.skill == writeFile)
}

// act does it, within the skill's time.
func (c *call) act(in any) (*Result, error) {
	ctx := c.ctx
	if c.set.timeout != nil {
		if most := c.set.timeout(c.skill.name); most > 0 {
			limited, cancel := context.WithTimeout(ctx, most)
			defer cancel()
			was := c.ctx
			c.ctx, ctx = limited, limited
			defer func() { c.ctx = was }()
		}
	}
	return c.skill.act(ctx, c, in)
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
	set    *Set
	fs     FS
	pinned *pinned // is fs; nil over an FS that is no resolver's
	skill  *skill
	ctx    context.Context
	input  json.RawMessage
	grants int // how much was granted to it

	reported time.Time // when progress was reported last
}

// listener is who wants to know how far a long search has come; nil for nobody.
func (c *call) listener() func(Progress) {
	report, _ := c.ctx.Value(progressKey{}).(func(Progress))
	return report
}

// progress reports how far a long search has come, where somebody listens.
func (c *call) progress(p Progress) {
	report := c.listener()
	if report == nil {
		return
	}
	if now := time.Now(); now.Sub(c.reported) >= progressEvery {
		c.reported = now
		report(p)
	}
}
