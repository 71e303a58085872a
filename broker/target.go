package broker

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	list, err := t.mayReach(ctx, who, sender, key)
	if err != nil {
		return err
	}
	nearest(list, key)
	return refuse(permission.CodeInvalidTarget, "%s%s", text, suggestions("Did you mean:", list))
}

// nearest has the sessions come first that what was typed is a part of.
func nearest(list []Agent, typed string) {
	slices.SortStableFunc(list, func(a, b Agent) int {
		return cmp.Compare(strings.Count(b.Session, ":"+typed), strings.Count(a.Session, ":"+typed))
	})
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
	if err == nil && reachable(a) {
		if met, has := a.at(key); has {
			return met, nil
		}
	}
	list, err := t.mayReach(ctx, who, sender, permission.AgentOf(key))
	if err != nil {
		return Agent{}, err
	}
	return Agent{}, refuse(CodeNotFound, "[ERROR] Session not found: \"%s\"%s", shown(key, maxShown), suggestions("Available sessions:", list))
}

// reachable reports whether a message to the agent will be read: an exited one
// reads it if there is a command that starts it again.
func reachable(a Agent) bool { return !a.State.Ended() || a.State == Exited && len(a.Resume) > 0 }

// mayReach are some of the sessions that who may send to, each as the agent that is met
// there: of the agent that was named, of its parent, its children and its siblings those
// that its policy lets it, for the operator any. Nothing else is ever suggested.
func (t *tx) mayReach(ctx context.Context, who Identity, sender Agent, named string) ([]Agent, error) {
	near := []Agent{root()}
	if a, err := t.Agent(named); err == nil {
		near = append(near, a)
	} else if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if sender.ParentID != "" {
		parent, err := t.Agent(sender.ParentID)
		if err != nil {
			return nil, err
		}
		near = append(near, parent)
	}
	for _, of := range []string{sender.ID, sender.ParentID} {
		if of == "" && !who.operator {
			continue // the operator's children are no siblings: nobody has put them together
		}
		list, err := t.Agents(AgentFilter{ParentID: &of, States: []State{Working, Idle}, Limit: 2 * maxSuggested})
		if err != nil {
			return nil, err
		}
		near = append(near, list...)
	}
	var may []Agent
	seen := map[string]bool{who.String(): true}
	for _, a := range near {
		if seen[a.ID] || !reachable(a) {
			continue
		}
		seen[a.ID] = true
		for _, s := range a.AllSessions() {
			if len(may) == maxSuggested {
				return may, nil
			}
			allowed := who.operator
			if !allowed {
				d, err := t.b.check(ctx, t, sender, access.Request{Action: access.MsgSend, Resource: s.Key, Tool: sendTool}, t.now)
				if err != nil {
					return nil, err
				}
				allowed = d.Allowed()
			}
			if allowed {
				met, _ := a.at(s.Key)
				may = append(may, met)
			}
		}
	}
	return may, nil
}

func suggestions(title string, list []Agent) string {
	text := "\n" + title
	if len(list) == 0 {
		text += "\n  (none)"
	}
	for _, a := range list {
		route := a.Route
		if route == "" {
			route = "no routing"
		}
		text += "\n  " + a.Session + " → " + shown(route, maxShown)
	}
	return text
}
