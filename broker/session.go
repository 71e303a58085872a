package broker

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// AgentSession is one of an agent's sessions: a key under which it is sent to, and the channel
// that its answers reach from there.
type AgentSession struct {
	Key   string `json:"key"`             // agent:<id>:<name>, of which the name may have several parts
	Route string `json:"route,omitempty"` // in words of the runtime that has registered it; "" for none
}

// AllSessions are an agent's sessions, the one that it was hired with first.
func (a *Agent) AllSessions() []AgentSession {
	return append([]AgentSession{{Key: a.Session, Route: a.Route}}, a.Sessions...)
}

// SetSession registers a session of an agent under a name such as main or
// whatsapp:group:7, with a route, or changes the route of one that it has. Only the
// operator may: which sessions an agent has decides who may send to it, and an agent that
// could name its own might step into a pattern of another one's send ACL.
func (b *Broker) SetSession(ctx context.Context, who Identity, id, name, route string) (Agent, error) {
	return b.changeSessions(ctx, who, id, name, func(a *Agent, key string) (string, error) {
		switch {
		case !isKey(key) || strings.HasPrefix(key, "agent:"+id+":agent:"):
			return "", refuse(CodeInvalid, "%q is no session: want letters, digits and . _ @ + -, in parts joined by ':'", shown(name, maxShown))
		case !isStorable(route) || len(route) > maxName:
			return "", refuse(CodeInvalid, "the route is longer than %d bytes, or no UTF-8", maxName)
		}
		text := key + " → " + route
		if route == "" {
			text = key + ", without a route"
		}
		if key == a.Session {
			a.Route = route
			return text, nil
		}
		list := slices.Clone(a.Sessions)
		if i := slices.IndexFunc(list, func(s AgentSession) bool { return s.Key == key }); i >= 0 {
			list[i].Route = route
		} else if list = append(list, AgentSession{Key: key, Route: route}); len(list) >= maxSessions {
			return "", refuse(CodeTooMany, "an agent has at most %d sessions", maxSessions)
		}
		a.Sessions = list
		return text, nil
	})
}

// RemoveSession removes a session of an agent; the one that it was hired with stays. What
// was sent to it is in the agent's mailbox.
func (b *Broker) RemoveSession(ctx context.Context, who Identity, id, name string) (Agent, error) {
	return b.changeSessions(ctx, who, id, name, func(a *Agent, key string) (string, error) {
		if key == a.Session {
			return "", refuse(CodeInvalid, "%s is the session that the agent was hired with, and stays", key)
		}
		i := slices.IndexFunc(a.Sessions, func(s AgentSession) bool { return s.Key == key })
		if i < 0 {
			return "", noSession(key)
		}
		if a.Sessions = slices.Delete(slices.Clone(a.Sessions), i, i+1); len(a.Sessions) == 0 {
			a.Sessions = nil
		}
		return key + " removed", nil
	})
}

func (b *Broker) changeSessions(ctx context.Context, who Identity, id, name string, change func(a *Agent, key string) (string, error)) (a Agent, err error) {
	if !b.attempts.admit(who) {
		return Agent{}, tooOften()
	}
	err = b.update(ctx, func(t *tx) error {
		var text string
		err := known(t, who)
		if err == nil && !who.operator {
			err = refuse(CodeOperatorOnly, "only the operator may change an agent's sessions")
		}
		if err == nil {
			a, err = descendant(t, who, id)
		}
		if err == nil {
			text, err = change(&a, "agent:"+id+":"+strings.TrimPrefix(name, "agent:"+id+":"))
		}
		var refusal *Error
		if errors.As(err, &refusal) {
			return t.refused(who, "session", id, refusal)
		}
		if err != nil {
			return err
		}
		if err := t.UpdateAgent(a, a.State); err != nil {
			return err
		}
		t.record(Record{Principal: who.String(), Action: "session", Resource: id, Effect: access.Allow, Code: permission.CodeAllowed, Reason: text})
		t.Notify(agentTopic(id))
		return nil
	})
	if err != nil {
		return Agent{}, err
	}
	return a, nil
}

// at is the agent as it is met at one of its sessions, if it has that one.
func (a Agent) at(key string) (Agent, bool) {
	for _, s := range a.AllSessions() {
		if s.Key == key {
			if s.Key != a.Session {
				a.Sessions = append(slices.Clone(a.Sessions), AgentSession{a.Session, a.Route})
				a.Session, a.Route = s.Key, s.Route
			}
			return a, true
		}
	}
	return a, false
}

// routed reports whether some session of the agent has a route.
func (a *Agent) routed() bool {
	return slices.ContainsFunc(a.AllSessions(), func(s AgentSession) bool { return s.Route != "" })
}
