package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/claudecode"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// claudeJudge decides about calls of Claude Code's own tools, by the rules that
// the skills and the views have.
type claudeJudge struct {
	callJudge
	held     *permission.Policy // the flags' or the agent's own; nil: flags without a policy
	cfg      pathresolver.Config
	resolver *pathresolver.Resolver
	view     bool // whatever Claude Code starts is in a view, which holds the same
}

// shellRules are what the judge asks of a policy behind the door.
type shellRules interface {
	BashCommands() (commands []string, listed bool)
	BashPolicy() (word string, allows func(word string) bool)
	NamesTool(name string) bool
}

func (j *claudeJudge) rules() shellRules { return policies.Of(j.held).(shellRules) }

// claudeCall is one call, and what was found about it before anybody is asked. So
// nobody is asked about a call that the rules refuse, and nothing is refused after it
// was approved.
type claudeCall struct {
	*claudeJudge
	tool    string // as Claude Code calls it
	effects claudecode.Effects
	input   json.RawMessage

	accesses []access.Access // what is to be put to the policy, each once
	refused  string          // why it is refused; "" for not
	confirm  string          // why somebody has to say yes, whatever the policy says of the tool
	asked    []access.Access // those of accesses that the rules want asked for
}

// answer decides about one call. An error is a refusal, too.
func (j *claudeJudge) answer(ctx context.Context, tool string, input json.RawMessage, cwd string) (claudecode.Behaviour, string, error) {
	if cwd == "" {
		cwd = j.resolver.Root()
	}
	e, err := claudecode.EffectsOf(tool, input, cwd)
	if err != nil {
		return claudecode.Deny, "", err
	}
	c := claudeCall{claudeJudge: j, tool: tool, effects: e, input: input}
	for _, u := range e.Uses {
		c.use(ctx, u)
	}
	if e.Command != "" {
		if c.input, err = j.withDirectory(input, cwd); err != nil {
			return claudecode.Deny, "", err
		}
		if !j.view {
			c.command(ctx, cwd)
		}
	}
	if c.refused != "" {
		return claudecode.Deny, c.refused, nil
	}
	b, reason := c.put(ctx)
	return b, reason, nil
}

// withDirectory are the arguments of a command as they are asked about: with where it
// is to run, unless that is the project's directory. An approval is bound to it, or a
// command that was approved in one directory could be run in another.
func (j *claudeJudge) withDirectory(input json.RawMessage, cwd string) (json.RawMessage, error) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(input, &args); err != nil {
		return nil, err
	}
	place := resolved.Explain(j.resolver, access.OpRead, cwd).Place
	if place == "" {
		place = filepath.Clean(cwd)
	}
	if _, forged := args["cwd"]; place == "." && !forged {
		return input, nil
	}
	args["cwd"], _ = json.Marshal(place) // a string is always one of JSON's
	return json.Marshal(args)
}

// why says which rule of the project refuses a call that has failed; "" for none. It
// decides nothing: a grant that the rules do not have in them may have allowed the call.
func (j *claudeJudge) why(tool string, input json.RawMessage, cwd string) string {
	if cwd == "" {
		cwd = j.resolver.Root()
	}
	e, err := claudecode.EffectsOf(tool, input, cwd)
	if err != nil {
		return "" // it is the agent's to say what was wrong
	}
	for _, u := range e.Uses {
		op, ok := u.Action.Op()
		if !ok {
			continue
		}
		_, err := j.resolver.Resolve(op, u.Path, 0)
		var denied *pathresolver.DeniedError
		if errors.As(err, &denied) && denied.Rule != pathresolver.RuleOutsideRoot && denied.Rule != pathresolver.RuleSymlinkEscape {
			return denied.Error()
		}
	}
	return ""
}

// refuse notes why the call is refused; the first reason counts.
func (c *claudeCall) refuse(ctx context.Context, action access.Action, place, why string) {
	if c.refused == "" {
		c.Note(ctx, access.Request{Action: action, Resource: place, Tool: c.effects.Tool, Input: c.input})
		c.refused = why
	}
}

// ask notes why somebody has to be asked; "" is no reason.
func (c *claudeCall) ask(why string) {
	if c.confirm == "" && why != "" {
		c.confirm = why
	}
}

// touches notes what is to be put to the policy.
func (c *claudeCall) touches(action access.Action, place string) {
	if a := (access.Access{Action: action, Resource: place}); !slices.Contains(c.accesses, a) {
		c.accesses = append(c.accesses, a)
	}
}

// put puts the whole call to the policy in one question, and then to the manager.
// Where there is none, Claude Code's own user is asked.
func (c *claudeCall) put(ctx context.Context) (claudecode.Behaviour, string) {
	e := c.effects
	q := access.Request{
		Action: access.ToolUse, Resource: e.Tool, Tool: e.Tool, Also: c.accesses, Input: c.input,
		Confirm: c.confirm != "", Reason: c.confirm,
	}
	switch {
	case len(e.Uses) > 0 && len(c.accesses) > 0: // who uses a file by a tool uses the tool
		last := len(c.accesses) - 1
		q.Action, q.Resource, q.Also = c.accesses[last].Action, c.accesses[last].Resource, c.accesses[:last]
	case c.held != nil && e.Own != "" && c.rules().NamesTool(e.Own):
		q.Resource, q.Tool = e.Own, e.Own
	case c.held == nil && e.Talk: // flags say nothing of tools, only of files
		return "", ""
	case c.held == nil && e.Command == "" && len(e.Uses) == 0:
		q.Confirm, q.Reason = true, fmt.Sprintf("no policy speaks of the tool '%s'", pathresolver.EscapePath(e.Tool))
	}
	if b, reason, done := c.madeByBroker(ctx, q); done {
		return b, reason
	}
	v := c.Check(ctx, q)
	switch {
	case v.Allowed():
		return claudecode.Allow, "allowed"
	case ctx.Err() != nil:
		return claudecode.Deny, unanswered
	case v.Code == pathresolver.RuleAsk && c.agent == nil:
		return claudecode.Ask, v.Text()
	case e.Talk && v.Code == permission.CodeToolNotDeclared:
		return "", "" // it touches nothing that a policy is about
	}
	return claudecode.Deny, v.Text()
}

// unanswered is why a call is refused whose wait is over.
const unanswered = "it was asked for, and nobody has answered yet. The request stays: the same call again goes on waiting"

// madeByBroker asks for a change that the rules want asked for, and has the broker make
// it once it was approved. It is about calls within a view: that would have to ask
// anew about what the call itself then does, and cannot know that it is what was
// approved. Claude Code is told that nothing is left to be done.
func (c *claudeCall) madeByBroker(ctx context.Context, q access.Request) (b claudecode.Behaviour, reason string, done bool) {
	asks := c.view && c.agent != nil && c.policy == nil && !c.person && !c.nobody
	if !asks || len(c.asked) != 1 || c.asked[0].Action != access.FSWrite {
		return "", "", false
	}
	skill, args, ok := claudecode.AsSkill(c.tool, c.input, c.asked[0].Resource)
	if !ok {
		return "", "", false
	}
	body := bodyOf(q)
	body.Peek = true
	if d, err := c.agent.Decide(ctx, body); err != nil || d.Effect != access.Ask {
		return "", "", false // refused, or allowed for longer, by a rule that holds in the view, too
	}
	res, err := c.agent.callSkill(ctx, skill, args)
	var e *fileskills.Error
	switch {
	case errors.As(err, &e) && e.Code == fileskills.Code(permission.CodeToolNotDeclared):
		return "", "", false // the policy has Claude Code's tool, and not the skill
	case err != nil && ctx.Err() != nil:
		return claudecode.Deny, unanswered, true
	case err != nil:
		return claudecode.Deny, err.Error(), true
	}
	return claudecode.Deny, "This call was approved, and exactly this change has been made, outside of this run: " + res.Text +
		"\nNothing is left to be done. Read the file before you change it again.", true
}

// use decides about one path by the rules, as far as nobody need be asked.
func (c *claudeCall) use(ctx context.Context, u claudecode.Use) {
	place := c.place(ctx, u.Action, u.Path)
	if place == "" || !u.Beneath || c.view {
		return
	}
	if rule := c.hides(place, u.Content); rule != "" {
		c.refuse(ctx, u.Action, place, fmt.Sprintf("%s beneath '%s' could show what the policy keeps back (%s). Name a directory without it, or use the tools of 'pinfold mcp', which leave it out",
			c.effects.Tool, pathresolver.EscapePath(place), pathresolver.EscapePath(rule)))
	}
}

// place is where a path leads, noted as something that is to be put to the policy.
// It is "" for what is refused, and for what lies outside the project.
func (c *claudeCall) place(ctx context.Context, action access.Action, path string) string {
	op, ok := action.Op()
	if !ok { // which EffectsOf never says
		c.refuse(ctx, action, path, "the tool does something that is not known")
		return ""
	}
	place, err := c.resolver.Resolve(op, path, 0)
	var denied *pathresolver.DeniedError
	switch {
	case err == nil:
	case !errors.As(err, &denied):
		c.refuse(ctx, action, path, "the path leads to no place")
		return ""
	case denied.Rule == pathresolver.RuleAsk && place != "":
		c.asked = append(c.asked, access.Access{Action: action, Resource: place})
		if c.held == nil {
			c.ask(denied.Error())
		}
	case denied.Rule == pathresolver.RuleOutsideRoot || denied.Rule == pathresolver.RuleSymlinkEscape:
		c.elsewhere(ctx, action, path, denied)
		return ""
	default:
		c.refuse(ctx, action, place, err.Error())
		return ""
	}
	c.touches(action, place)
	return place
}

// elsewhere decides about what lies outside the directory: only a policy can let
// that be asked for.
func (c *claudeCall) elsewhere(ctx context.Context, action access.Action, path string, denied *pathresolver.DeniedError) {
	place, err := endOf(path)
	if err != nil {
		c.refuse(ctx, action, filepath.Clean(path), err.Error())
		return
	}
	if _, err := os.Lstat(place); c.view && action.Kind() == access.KindRead && errors.Is(err, fs.ErrNotExist) {
		// Leave would come to nothing: what a view shows outside of the project is
		// settled when it is made.
		c.refuse(ctx, action, place, denied.Error()+"\nNothing is there in this run. Whoever starts it can show what is there outside, by --ro")
		return
	}
	effect := access.Deny
	if c.held != nil && filepath.IsAbs(place) {
		effect = c.held.Check(ctx, access.Request{Action: action, Resource: filepath.ToSlash(place), Tool: c.effects.Tool}).Effect
	}
	switch {
	case effect == access.Deny:
		c.refuse(ctx, action, place, denied.Error())
	case c.agent != nil:
		c.touches(action, filepath.ToSlash(place))
	case effect == access.Ask:
		c.ask("it lies outside the project, which the policy wants asked for")
	}
}

// endOf is where a path ends: a link on the way may lead on. What is not there
// yet is where its nearest directory is; a link that leads nowhere could be
// written through, and is refused.
func endOf(path string) (string, error) {
	at, rest := filepath.Clean(path), ""
	for {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), nil
		}
		if _, err := os.Lstat(at); err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
			return "", fmt.Errorf("where '%s' leads to cannot be told", pathresolver.EscapePath(path))
		}
		at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest)
	}
}

// hides is the rule by which something beneath a place may have to be kept back
// from a search that Claude Code does itself; "" for none.
func (j *claudeJudge) hides(place string, content bool) string {
	globs := j.cfg.Hide
	if content {
		globs = slices.Concat(globs, j.cfg.AskRead, j.cfg.Mask)
	}
	for _, glob := range globs {
		head := strings.TrimPrefix(filepath.ToSlash(glob), "./")
		if i := strings.IndexAny(head, `*?[{\`); i >= 0 { // the directory before it is certain
			head = head[:max(strings.LastIndexByte(head[:i], '/'), 0)]
		}
		if head == "" || place == "." || meet(head, place) {
			return glob
		}
	}
	if j.cfg.ReadPaths == nil {
		return ""
	}
	for _, p := range j.resolver.ReadPaths() {
		if p == "." || p == place || strings.HasPrefix(place, p+"/") {
			return ""
		}
	}
	return "fs.read"
}

// meet reports whether one of two places lies beneath the other.
func meet(a, b string) bool {
	a, b = strings.ToLower(a)+"/", strings.ToLower(b)+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
