package broker

import (
	"context"
	"errors"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// checkKey refuses what is no session key.
func (t *tx) checkKey(ctx context.Context, who Identity, sender Agent, key string) error {
	if key == "" || strings.HasPrefix(key, "agent::") {
		return refuse(permission.CodeMissingTarget, "no agent_id provided")
	}
	if isKey(key) {
		return nil
	}
	text := "[ERROR] Invalid target: \"" + shown(key, maxShown) + "\"\nTarget must be a full session key (e.g., agent:main:main)"
	list, err := t.mayReach(ctx, who, sender)
	if err != nil {
		return err
	}
	return refuse(permission.CodeInvalidTarget, "%s%s", text, suggestions("Did you mean:", list))
}

// isKey reports whether a string has the form agent:<id>:<session...>.
func isKey(key string) bool {
	segments := strings.Split(key, ":")
	if len(segments) < 3 || segments[0] != "agent" || len(key) > maxName {
		return false
	}
	for _, s := range segments[1:] {
		if permission.CheckID(s) != nil {
			return false
		}
	}
	return true
}

// session is the agent with that session key, if messages can reach it; only
// who may send there comes this far.
func (t *tx) session(ctx context.Context, who Identity, sender Agent, key string) (Agent, error) {
	if key == rootSession {
		return root(), nil
	}
	a, err := t.Agent(permission.AgentOf(key))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Agent{}, err
	}
	if err == nil && a.Session == key && reachable(a) {
		return a, nil
	}
	list, err := t.mayReach(ctx, who, sender)
	if err != nil {
		return Agent{}, err
	}
	return Agent{}, refuse(CodeNotFound, "[ERROR] Session not found: \"%s\"%s", shown(key, maxShown), suggestions("Available sessions:", list))
}

// reachable reports whether a message to the agent will be read: an exited one
// reads it if there is a command that starts it again.
func reachable(a Agent) bool { return !a.State.Ended() || a.State == Exited && len(a.Resume) > 0 }

// mayReach are some of the agents that who may send to: of its parent, its
// children and its siblings those that its policy lets it, for the operator any.
// Nothing else is ever suggested.
func (t *tx) mayReach(ctx context.Context, who Identity, sender Agent) ([]Agent, error) {
	alive := []State{Working, Idle}
	if who.operator {
		return t.Agents(AgentFilter{States: alive, Limit: maxSuggested})
	}
	near := []Agent{root()}
	if sender.ParentID != "" {
		parent, err := t.Agent(sender.ParentID)
		if err != nil {
			return nil, err
		}
		near = append(near, parent)
	}
	for _, of := range []string{sender.ID, sender.ParentID} {
		if of == "" {
			continue // the operator's children are no siblings: nobody has put them together
		}
		list, err := t.Agents(AgentFilter{ParentID: &of, States: alive, Limit: 2 * maxSuggested})
		if err != nil {
			return nil, err
		}
		near = append(near, list...)
	}
	var may []Agent
	for _, a := range near {
		if a.ID == sender.ID || !reachable(a) || len(may) == maxSuggested {
			continue
		}
		d, err := t.b.check(ctx, t, sender, access.Request{Action: access.MsgSend, Resource: a.Session, Tool: sendTool}, t.now)
		if err != nil {
			return nil, err
		}
		if d.Allowed() {
			may = append(may, a)
		}
	}
	return may, nil
}

func suggestions(title string, list []Agent) string {
	if len(list) == 0 {
		return ""
	}
	text := "\n" + title
	for _, a := range list {
		route := a.Route
		if route == "" {
			route = "no routing"
		}
		text += "\n  " + a.Session + " → " + shown(route, maxShown)
	}
	return text
}
