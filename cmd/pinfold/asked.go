package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// maxAsked is how many places of one call are asked for.
const maxAsked = 64

// question is one thing that a call needs leave for.
type question struct {
	action access.Action
	place  string // or the tool, of tool.use
	tool   string

	also []access.Access // what the same call does besides: one answer is about all
	// confirm is why somebody has to say yes though the policy allows it; "" for
	// nothing.
	confirm string
}

// each are the things that it is about, one by one.
func (q question) each() []access.Access {
	return append([]access.Access{{Action: q.action, Resource: q.place}}, q.also...)
}

// verdict is the answer to a question.
type verdict struct {
	allowed bool
	code    permission.Code
	reason  string // one sentence, or what somebody said
	text    string // for the agent; W13's of a file

	unconfirmed bool // a person was to say yes, and did not: reason says why
}

// judge answers questions, and asks whoever is to be asked. It may block, and
// returns when ctx is done.
type judge interface {
	judge(ctx context.Context, q question, input json.RawMessage) verdict
	// note puts on record what the rules refuse anyway, and asks nobody.
	note(ctx context.Context, q question, input json.RawMessage)
}

// askedSkills are skills whose calls may be asked for. What the rules mark so is
// put to the judge before anything is touched, and then the call is made anew
// with leave for that place, for this call only.
type askedSkills struct {
	set   *fileskills.Set
	cfg   pathresolver.Config
	open  func(pathresolver.Config) (*pathresolver.Resolver, error)
	over  *pathresolver.Resolver // of set
	judge judge

	// elsewhere, if not nil, makes a call that has to be asked for: somebody
	// else does all of it.
	elsewhere func(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error)
}

// Call is fileskills.Set's Call.
func (k *askedSkills) Call(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error) {
	leave := &callLeave{}
	ctx = context.WithValue(ctx, leaveKey{}, leave)
	set := k.set
	for range maxAsked {
		res, err := set.Call(ctx, name, input)
		q, known := k.refusedOf(name, err)
		switch {
		case !known:
			return res, err
		case q.rule != pathresolver.RuleAsk:
			k.judge.note(ctx, q.question, input) // A1
			return res, err
		case k.elsewhere != nil:
			return k.elsewhere(ctx, name, input)
		case leave.has(q.question):
			return res, err
		}
		if v := leave.or(ctx, k.judge, q.question, input); !v.allowed {
			return nil, v.refusal(ctx, name, q.path, err)
		}
		cfg := k.cfg
		cfg.Grant = leave.granting()
		r, err := k.open(cfg)
		if err != nil {
			return nil, err
		}
		defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
		set = k.set.Over(r)
	}
	return nil, &fileskills.Error{Code: fileskills.CodePathBlocked, Message: name + " needs leave for too many places at once. Nothing was changed.", Hint: "Do it in parts."}
}

// refusedPlace is what a rule refused.
type refusedPlace struct {
	question
	rule pathresolver.Rule
	path string // as the call has it
}

// refusedOf is the place that a rule refused, where that is why a call failed.
func (k *askedSkills) refusedOf(name string, err error) (refusedPlace, bool) {
	var denied *pathresolver.DeniedError
	if !errors.As(err, &denied) {
		return refusedPlace{}, false
	}
	action := denied.Op.Action()
	place := k.over.Explain(denied.Op, denied.Path).Place
	if place == "" && denied.Rule != pathresolver.RuleAsk {
		place = denied.Path // it leads to no place: that is what is recorded
	}
	return refusedPlace{question{action: action, place: place, tool: fileskills.Canonical(name)}, denied.Rule, denied.Path}, action != "" && place != ""
}

// refusal is a verdict as a skill's error.
func (v verdict) refusal(ctx context.Context, name, path string, cause error) error {
	if ctx.Err() != nil {
		return &fileskills.Error{Code: fileskills.CodeCancelled, Path: path, Message: name + " was cancelled. Nothing was changed."}
	}
	e := &fileskills.Error{Code: fileskills.Code(v.code), Path: path}
	if v.unconfirmed {
		e.Code = fileskills.CodePermissionDenied
		e.Message = name + " on '" + pathresolver.EscapePath(path) + "' was not confirmed: " + v.reason + ". Nothing was changed."
		return e
	}
	var of *fileskills.Error
	if errors.As(cause, &of) {
		e.Path, e.Data = of.Path, of.Data
	}
	e.Message, e.Hint, _ = strings.Cut(v.text, "\n")
	return e
}

// callLeave is what was allowed for one call, which is not asked for twice.
type callLeave struct {
	mu    sync.Mutex
	given []question // guarded by mu
}

type leaveKey struct{}

// leaveOf is that of the call that ctx is of; one of its own otherwise.
func leaveOf(ctx context.Context) *callLeave {
	if l, ok := ctx.Value(leaveKey{}).(*callLeave); ok {
		return l
	}
	return &callLeave{}
}

// or is the verdict, asked for unless it was given before.
func (l *callLeave) or(ctx context.Context, j judge, q question, input json.RawMessage) verdict {
	if l.has(q) {
		return verdict{allowed: true}
	}
	v := j.judge(ctx, q, input)
	if v.allowed {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.given = append(l.given, q)
	}
	return v
}

// has reports whether it was given. Leave to write is leave to create, as a
// grant is.
func (l *callLeave) has(q question) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.given, func(g question) bool {
		return g.place == q.place && g.tool == q.tool && g.action.GrantedAs() == q.action.GrantedAs()
	})
}

// granting is what was given, for the resolver.
func (l *callLeave) granting() pathresolver.Grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []access.Access
	for _, g := range l.given {
		for _, a := range access.ActionsOf(access.KindRead, access.KindWrite) {
			if a.GrantedAs() == g.action.GrantedAs() {
				list = append(list, access.Access{Action: a, Resource: g.place})
			}
		}
	}
	return pathresolver.GrantFor(list...)
}

// judgeGate puts every use of a call to a judge before anything is touched:
// whether the agent has the skill, and whether its paths allow this one.
type judgeGate struct {
	judge    judge
	resolver *pathresolver.Resolver
	// same says that the resolver holds the very policy that the judge has: what
	// both refuse the resolver refuses, in the words that every surface uses.
	same bool
}

var _ fileskills.Gate = judgeGate{}

// Check asks about the place that the path leads to; see policyGate.
func (g judgeGate) Check(ctx context.Context, r fileskills.Request) fileskills.Decision {
	leave := leaveOf(ctx)
	v := leave.or(ctx, g.judge, question{action: access.ToolUse, place: r.Skill, tool: r.Skill}, r.Input)
	if v.allowed {
		place := placeOfUse(g.resolver, r.Use)
		if place == "" {
			return fileskills.Decision{Allow: true} // which it is not: the resolver says why
		}
		v = leave.or(ctx, g.judge, question{action: r.Use.Action, place: place, tool: r.Skill}, r.Input)
		if g.same && isOnlyFiles(v.code) {
			return fileskills.Decision{Allow: true} // likewise
		}
	}
	if v.allowed {
		return fileskills.Decision{Allow: true}
	}
	if v.unconfirmed {
		return fileskills.Decision{Unconfirmed: true, Reason: v.reason}
	}
	reason := v.text
	if _, rest, more := strings.Cut(v.text, "\n"); more && strings.HasPrefix(v.text, "Path '") {
		reason = rest // the skill says the first line itself
	}
	return fileskills.Decision{Code: fileskills.Code(v.code), Reason: reason}
}
