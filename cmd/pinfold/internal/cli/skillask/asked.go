package skillask

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
)

// maxAsked is how many places of one call are asked for.
const maxAsked = 64

// Question is one thing that a call needs leave for.
type Question struct {
	Action access.Action
	Place  string // or the tool, of tool.use
	Tool   string

	Also []access.Access // what the same call does besides: one answer is about all
	// Confirm is why somebody has to say yes though the policy allows it; "" for
	// nothing.
	Confirm string
}

// Each are the things that it is about, one by one.
func (q Question) Each() []access.Access {
	return append([]access.Access{{Action: q.Action, Resource: q.Place}}, q.Also...)
}

// Verdict is the answer to a question.
type Verdict struct {
	Allowed bool
	Code    access.Code
	Reason  string // one sentence, or what somebody said
	Text    string // for the agent; of a file in the words that every surface uses

	Unconfirmed bool // a person was to say yes, and did not: reason says why
}

// Judge answers questions, and asks whoever is to be asked. It may block, and
// returns when ctx is done.
type Judge interface {
	Decide(ctx context.Context, q Question, input json.RawMessage) Verdict
	// Note puts on record what the rules refuse anyway, and asks nobody.
	Note(ctx context.Context, q Question, input json.RawMessage)
}

// Skills are skills whose calls may be asked for. What the rules mark so is
// put to the judge before anything is touched, and then the call is made anew
// with leave for that place, for this call only.
type Skills struct {
	Set   *fileskills.Set
	Cfg   pathresolver.Config
	Open  func(pathresolver.Config) (*pathresolver.Resolver, error)
	Over  *pathresolver.Resolver // of set
	Judge Judge

	// Elsewhere, if not nil, makes a call that has to be asked for: somebody
	// else does all of it.
	Elsewhere func(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error)
}

// Call is fileskills.Set's Call.
func (k *Skills) Call(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error) {
	leave := &callLeave{}
	ctx = context.WithValue(ctx, leaveKey{}, leave)
	set := k.Set
	for range maxAsked {
		res, err := set.Call(ctx, name, input)
		q, known := k.refusedOf(name, err)
		switch {
		case !known:
			return res, err
		case q.rule != pathresolver.RuleAsk:
			k.Judge.Note(ctx, q.Question, input)
			return res, err
		case k.Elsewhere != nil:
			return k.Elsewhere(ctx, name, input)
		case leave.has(q.Question):
			return res, err
		}
		if v := leave.or(ctx, k.Judge, q.Question, input); !v.Allowed {
			return nil, v.refusal(ctx, name, q.path, err)
		}
		cfg := k.Cfg
		cfg.Grant = leave.granting()
		r, err := k.Open(cfg)
		if err != nil {
			return nil, err
		}
		defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
		set = k.Set.Over(r)
	}
	return nil, &fileskills.Error{Code: fileskills.CodePathBlocked, Message: name + " needs leave for too many places at once. Nothing was changed.", Hint: "Do it in parts."}
}

// refusedPlace is what a rule refused.
type refusedPlace struct {
	Question
	rule pathresolver.Rule
	path string // as the call has it
}

// refusedOf is the place that a rule refused, where that is why a call failed.
func (k *Skills) refusedOf(name string, err error) (refusedPlace, bool) {
	var denied *pathresolver.DeniedError
	if !errors.As(err, &denied) {
		return refusedPlace{}, false
	}
	action := denied.Op.Action()
	place := k.Over.Explain(denied.Op, denied.Path).Place
	if place == "" && denied.Rule != pathresolver.RuleAsk {
		place = denied.Path // it leads to no place: that is what is recorded
	}
	return refusedPlace{Question{Action: action, Place: place, Tool: fileskills.Canonical(name)}, denied.Rule, denied.Path}, action != "" && place != ""
}

// refusal is a verdict as a skill's error.
func (v Verdict) refusal(ctx context.Context, name, path string, cause error) error {
	if ctx.Err() != nil {
		return &fileskills.Error{Code: fileskills.CodeCancelled, Path: path, Message: name + " was cancelled. Nothing was changed."}
	}
	e := &fileskills.Error{Code: fileskills.Code(v.Code), Path: path}
	if v.Unconfirmed {
		e.Code = fileskills.CodePermissionDenied
		e.Message = name + " on '" + pathresolver.EscapePath(path) + "' was not confirmed: " + v.Reason + ". Nothing was changed."
		return e
	}
	var of *fileskills.Error
	if errors.As(cause, &of) {
		e.Path, e.Data = of.Path, of.Data
	}
	e.Message, e.Hint, _ = strings.Cut(v.Text, "\n")
	return e
}

// callLeave is what was allowed for one call, which is not asked for twice.
type callLeave struct {
	mu    sync.Mutex
	given []Question // guarded by mu
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
func (l *callLeave) or(ctx context.Context, j Judge, q Question, input json.RawMessage) Verdict {
	if l.has(q) {
		return Verdict{Allowed: true}
	}
	v := j.Decide(ctx, q, input)
	if v.Allowed {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.given = append(l.given, q)
	}
	return v
}

// has reports whether it was given. Leave to write is leave to create, as a
// grant is.
func (l *callLeave) has(q Question) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.given, func(g Question) bool {
		return g.Place == q.Place && g.Tool == q.Tool && g.Action.GrantedAs() == q.Action.GrantedAs()
	})
}

// granting is what was given, for the resolver.
func (l *callLeave) granting() pathresolver.Grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []access.Access
	for _, g := range l.given {
		for _, a := range access.ActionsOf(access.KindRead, access.KindWrite) {
			if a.GrantedAs() == g.Action.GrantedAs() {
				list = append(list, access.Access{Action: a, Resource: g.Place})
			}
		}
	}
	return pathresolver.GrantFor(list...)
}

// JudgedGate puts every use of a call to a judge before anything is touched:
// whether the agent has the skill, and whether its paths allow this one.
type JudgedGate struct {
	Judge    Judge
	Resolver *pathresolver.Resolver
	// Same says that the resolver holds the very policy that the judge has: what
	// both refuse the resolver refuses, in the words that every surface uses.
	Same bool
}

var _ fileskills.Gate = JudgedGate{}

// Check asks about the place that the path leads to; see PolicyGate.
func (g JudgedGate) Check(ctx context.Context, r fileskills.Request) fileskills.Decision {
	leave := leaveOf(ctx)
	v := leave.or(ctx, g.Judge, Question{Action: access.ToolUse, Place: r.Skill, Tool: r.Skill}, r.Input)
	if v.Allowed {
		place := placeOfUse(g.Resolver, r.Use)
		if place == "" {
			return fileskills.Decision{Allow: true} // which it is not: the resolver says why
		}
		v = leave.or(ctx, g.Judge, Question{Action: r.Use.Action, Place: place, Tool: r.Skill}, r.Input)
		if g.Same && IsOnlyFiles(v.Code) {
			return fileskills.Decision{Allow: true} // likewise
		}
	}
	if v.Allowed {
		return fileskills.Decision{Allow: true}
	}
	if v.Unconfirmed {
		return fileskills.Decision{Unconfirmed: true, Reason: v.Reason}
	}
	reason := v.Text
	if _, rest, more := strings.Cut(v.Text, "\n"); more && strings.HasPrefix(v.Text, "Path '") {
		reason = rest // the skill says the first line itself
	}
	return fileskills.Decision{Code: fileskills.Code(v.Code), Reason: reason}
}
