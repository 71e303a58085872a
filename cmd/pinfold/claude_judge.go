package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/claudecode"
	"github.com/pinfold-dev/pinfold/fileskills"
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

// answer decides about one call. An error is a refusal, too.
func (j *claudeJudge) answer(ctx context.Context, tool string, input json.RawMessage, cwd string) (claudecode.Behaviour, string, error) {
	if cwd == "" {
		cwd = j.resolver.Root()
	}
	e, err := claudecode.EffectsOf(tool, input, cwd)
	if err != nil {
		return claudecode.Deny, "", err
	}
	b, reason := j.tool(ctx, e, input)
	for _, u := range e.Uses {
		if b != claudecode.Allow && b != claudecode.Ask {
			return b, reason, nil
		}
		of, why := j.use(ctx, e.Tool, u, input)
		if of != claudecode.Allow {
			b, reason = stricterAnswer(b, reason, of, why)
		}
	}
	if b == claudecode.Allow && e.Tool == "Bash" {
		b, reason = j.command(e.Command)
	}
	return b, reason, nil
}

// stricterAnswer is the stricter of two.
func stricterAnswer(a claudecode.Behaviour, why string, b claudecode.Behaviour, because string) (claudecode.Behaviour, string) {
	if a == claudecode.Deny || b == claudecode.Allow {
		return a, why
	}
	return b, because
}

// tool decides whether the tool may be used at all.
func (j *claudeJudge) tool(ctx context.Context, e claudecode.Effects, input json.RawMessage) (claudecode.Behaviour, string) {
	if j.held == nil { // flags say nothing of tools, only of files
		switch {
		case e.Talk:
			return "", ""
		case len(e.Uses) > 0 || e.Command != "":
			return claudecode.Allow, "allowed"
		}
		return claudecode.Ask, fmt.Sprintf("no policy speaks of the tool '%s'", pathresolver.EscapePath(e.Tool))
	}
	tool := e.Tool
	if e.Own != "" && j.held.NamesTool(e.Own) {
		tool = e.Own
	}
	b, reason, code := j.put(ctx, question{permission.ToolUse, tool, tool}, input)
	if b == claudecode.Deny && e.Talk && code == permission.CodeToolNotDeclared {
		return "", "" // it touches nothing that a policy is about
	}
	return b, reason
}

// put puts a question to the policy, and to whoever is to be asked. Where nobody
// is there to be asked, Claude Code's own user is.
func (j *claudeJudge) put(ctx context.Context, q question, input json.RawMessage) (claudecode.Behaviour, string, permission.Code) {
	v := j.judge(ctx, q, input)
	switch {
	case v.allowed:
		return claudecode.Allow, "allowed", v.code
	case ctx.Err() != nil:
		return claudecode.Deny, "it was asked for, and nobody has answered yet. The request stays: the same call again goes on waiting", permission.CodeAsk
	case v.code == permission.CodeAsk && j.agent == nil:
		return claudecode.Ask, v.text, v.code
	}
	return claudecode.Deny, v.text, v.code
}

// opsOf are the resolver's words for the actions of Claude Code's tools.
var opsOf = map[permission.Action]fileskills.Action{
	permission.FSRead: fileskills.ActionRead, permission.FSList: fileskills.ActionList, permission.FSWrite: fileskills.ActionWrite,
}

// use decides about one path.
func (j *claudeJudge) use(ctx context.Context, tool string, u claudecode.Use, input json.RawMessage) (claudecode.Behaviour, string) {
	op := opOf(opsOf[u.Action])
	at := j.resolver.Explain(op, u.Path)
	q := question{u.Action, at.Place, tool}
	var denied *pathresolver.DeniedError
	err := j.resolver.Allows(op, u.Path, 0)
	switch {
	case err == nil && at.Place == "":
		return claudecode.Deny, "the path leads to no place"
	case err == nil:
	case errors.As(err, &denied) && denied.Rule == pathresolver.RuleAsk && at.Place != "":
	case errors.As(err, &denied) && (denied.Rule == pathresolver.RuleOutsideRoot || denied.Rule == pathresolver.RuleSymlinkEscape):
		return j.elsewhere(ctx, q, u.Path, denied, input)
	default:
		j.note(ctx, q, input) // A1
		return claudecode.Deny, err.Error()
	}
	if u.Beneath && !j.view {
		if rule := j.hides(at.Place, u.Content); rule != "" {
			j.note(ctx, q, input)
			return claudecode.Deny, fmt.Sprintf("%s beneath '%s' could show what the policy keeps back (%s). Name a directory without it, or use the tools of 'pinfold mcp', which leave it out",
				tool, pathresolver.EscapePath(at.Place), pathresolver.EscapePath(rule))
		}
	}
	if j.held == nil && denied != nil {
		return claudecode.Ask, denied.Error()
	}
	b, reason, _ := j.put(ctx, q, input)
	return b, reason
}

// elsewhere decides about what lies outside the directory: only a policy can let
// that be asked for.
func (j *claudeJudge) elsewhere(ctx context.Context, q question, path string, denied *pathresolver.DeniedError, input json.RawMessage) (claudecode.Behaviour, string) {
	var err error
	if q.place, err = endOf(path); err != nil {
		j.note(ctx, question{q.action, filepath.Clean(path), q.tool}, input)
		return claudecode.Deny, err.Error()
	}
	effect := permission.Deny
	if j.held != nil && filepath.IsAbs(q.place) {
		effect = j.held.Check(ctx, permission.Request{Action: q.action, Resource: filepath.ToSlash(q.place), Tool: q.tool}).Effect
	}
	switch {
	case effect == permission.Deny:
		j.note(ctx, q, input)
		return claudecode.Deny, denied.Error()
	case j.agent != nil:
		b, reason, _ := j.put(ctx, q, input)
		return b, reason
	case effect == permission.Ask:
		return claudecode.Ask, "it lies outside the project, which the policy wants asked for"
	}
	return claudecode.Allow, "allowed"
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
		globs = append(globs[:len(globs):len(globs)], j.cfg.AskRead...)
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

// command decides about a command that the tool Bash is to run: outside a view
// it may do anything its user may, so only a plain one that the policy lists is
// allowed without a person.
func (j *claudeJudge) command(command string) (claudecode.Behaviour, string) {
	switch {
	case j.view, command == "": // "": what another call has started
		return claudecode.Allow, "allowed"
	case j.held == nil:
		return claudecode.Ask, "no policy speaks of commands, and outside 'pinfold run' one can do anything"
	}
	listed, any := j.held.BashCommands()
	if any && claudecode.IsPlain(command, listed) {
		return claudecode.Allow, "allowed"
	}
	if any {
		return claudecode.Ask, "the policy lists commands (" + pathresolver.EscapePath(strings.Join(listed, ", ")) + "), and this is none of them, or more than one"
	}
	return claudecode.Ask, "outside 'pinfold run' a command can do anything, whatever the policy says of files"
}
