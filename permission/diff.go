package permission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// change is one difference between two policies, in words, with a request that
// shows it.
type change struct {
	widens  bool
	text    string
	rule    string          // that decides now, or that decided before
	source  access.Position // of that rule
	request access.Request  // a request that is decided differently; zero for network and the like
	before  access.Effect
	after   access.Effect

	relatives kinship // under which it is
}

// String is "widens: ..." or "narrows: ...".
func (c change) String() string {
	verb := "narrows: "
	if c.widens {
		verb = "widens: "
	}
	text := verb + c.text
	if c.rule != "" {
		text += fmt.Sprintf(" [%s, %s]", c.rule, c.source)
	}
	return text
}

// widens reports whether any of the changes allows more than before.
func widens(changes []change) bool {
	return slices.ContainsFunc(changes, func(c change) bool { return c.widens })
}

// DiffTo says what another policy allows more and less than this one: what widens
// first. See diff.
func (p inside) DiffTo(after *Policy) []policies.Change {
	var list []policies.Change
	for _, c := range diff(p.Policy, after) {
		list = append(list, policies.Change{Widens: c.widens, Text: c.String()})
	}
	return list
}

// diff says what a policy allows more and less than another: what widens
// first. It puts to both the requests that their rules tell apart: for each
// pattern, word, tool and agent that either names, those that it matches and
// their neighbours. The number of requests is bounded by maxWitnesses. A
// difference at a place that none of them names may go unnoticed.
func diff(before, after *Policy) []change {
	d := &differ{before: before, after: after, seen: map[string]bool{}}
	for w := range witnesses(before, after) {
		d.compare(w)
	}
	d.settings()
	slices.SortStableFunc(d.changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(yesNo(a.widens), yesNo(b.widens)), cmp.Compare(a.text, b.text))
	})
	return d.changes
}

type differ struct {
	before, after *Policy
	changes       []change
	seen          map[string]bool // what is told already, without its example
}

// compare puts one request to both policies.
func (d *differ) compare(w witness) {
	b := Enforcer{d.before, w.kinship}.Check(context.Background(), w.Request)
	a := Enforcer{d.after, w.kinship}.Check(context.Background(), w.Request)
	if a.Effect == b.Effect && masked(&w, &a) == masked(&w, &b) {
		return
	}
	// The one that says most: the stricter one with a pattern or word, which is what came
	// or went, then the other with one, or at least a rule.
	widens := opinionOf(a.Effect) < opinionOf(b.Effect) || a.Effect == b.Effect && masked(&w, &a)
	by := a
	if b.Pattern != "" && (widens || a.Pattern == "") || a.Rule == "" {
		by = b
	}
	subject, example := w.subject(by)
	is, was := effectText(a.Effect), effectText(b.Effect)
	if masked(&w, &a) {
		is = maskedText
	}
	if masked(&w, &b) {
		was = maskedText
	}
	key := fmt.Sprintf("%s %s %s", was, is, subject)
	if d.seen[key] {
		return
	}
	d.seen[key] = true
	subject += example
	d.changes = append(d.changes, change{
		widens: widens,
		text:   fmt.Sprintf("%s: %s, was %s", subject, is, was),
		rule:   by.Rule, source: by.Source, request: w.Request, before: b.Effect, after: a.Effect, relatives: w.kinship,
	})
}

// maskedText is how what is masked may be read.
const maskedText = "with stand-ins in the view only"

// masked reports whether a request to read is refused only since programs in a view are to
// read stand-ins, which is more than nothing.
func masked(w *witness, d *access.Decision) bool {
	return d.Code == pathresolver.RuleMasked && w.Action.Kind() != access.KindWrite
}

func effectText(e access.Effect) string {
	switch e {
	case access.Allow:
		return "allowed"
	case access.Ask:
		return "only after asking"
	}
	return "refused"
}

// settings compares what is no request.
func (d *differ) settings() {
	add := func(widens bool, rule string, at access.Position, format string, args ...any) {
		d.changes = append(d.changes, change{widens: widens, text: fmt.Sprintf(format, args...), rule: rule, source: at})
	}
	d.network()
	if b, a := d.before.bashPolicy(), d.after.bashPolicy(); a != b {
		runs := slices.ContainsFunc(execTools, func(tool string) bool { return d.after.toolEffect(tool) != access.Deny })
		add(runs && b != "" && (a == "" || a.rank() > b.rank()), "", access.Position{}, "bash_policy: %s, was %s", orNone(string(a)), orNone(string(b)))
	}
	for _, tool := range toolsOf(d.before, d.after) {
		if b, a := d.before.timeout(tool), d.after.timeout(tool); a != b {
			add(b != 0 && (a == 0 || a > b), "", access.Position{}, "timeout of tool '%s': %s, was %s", tool, seconds(a), seconds(b))
		}
	}
	for _, role := range slices.Sorted(slices.Values(append(d.before.roles(), d.after.roles()...))) {
		if b, a := d.before.role(role), d.after.role(role); a != b && !slices.ContainsFunc(d.changes, func(c change) bool { return strings.HasPrefix(c.text, "role '"+role+"':") }) {
			add(roleWidens(b, a), "", access.Position{}, "role '%s': %s, was %s", role, a, b)
		}
	}
}

// roleWidens reports whether an agent gains by another profile. One that is not built
// in may allow anything.
func roleWidens(before, after string) bool {
	b, errB := Preset(before, Options{})
	a, errA := Preset(after, Options{})
	return errA != nil || errB != nil || widens(diff(b, a))
}

// toolEffect is what the policy says about a tool.
func (p *Policy) toolEffect(name string) access.Effect {
	return p.Check(context.Background(), access.Request{Action: access.ToolUse, Resource: name}).Effect
}

func orNone(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

func seconds(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("%d s", n)
}
