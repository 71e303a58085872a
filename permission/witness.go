package permission

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// maxWitnesses bounds the requests that Diff puts to two policies.
const maxWitnesses = 200_000

// witness is a request, and how its agents are related.
type witness struct {
	access.Request
	kinship
}

// kinship is a registry of one pair: the agent that asks and its target.
type kinship struct {
	target   string
	relation string // parent, children, siblings or ""
}

// The agent that asks in a witness, and the parent of it and its sibling.
const (
	asker    = "pf-self"
	elder    = "pf-parent"
	stranger = "pf-other"
)

// Parent answers as if target stood in the relation to asker.
func (k kinship) Parent(id string) string {
	switch {
	case k.relation == targetParent && id == asker:
		return k.target
	case k.relation == targetChildren && id == k.target:
		return asker
	case k.relation == targetSiblings && (id == asker || id == k.target):
		return elder
	}
	return ""
}

// subject is what a change is about, in words: the rule's own where one names
// it, or else the request's; and an example of it.
func (w witness) subject(by access.Decision) (subject, example string) {
	through := ""
	if w.Tool != "" {
		through = fmt.Sprintf(" through tool '%s'", w.Tool)
	}
	switch w.Action.Kind() {
	case access.KindRead, access.KindWrite:
		verb := "reading"
		if w.Action.Kind() == access.KindWrite {
			verb = "writing"
		}
		what := "'" + w.Resource + "'"
		if by.Pattern != "" && by.Code != pathresolver.RuleOutsideRoot {
			what = "'" + by.Pattern + "'"
			if by.Pattern != w.Resource {
				example = " (such as " + w.Resource + ")"
			}
		} else if placeKind(w.Resource) == outsidePlace {
			what = "files outside the project"
		}
		return verb + " " + what + through, example
	case access.KindTool:
		if w.Resource == unnamed {
			return "any tool that is not named", ""
		}
		return fmt.Sprintf("tool '%s'", w.Resource), ""
	case access.KindMessage, access.KindAgent:
		who := map[string]string{targetParent: "the parent", targetChildren: "a child", targetSiblings: "a sibling", "": "another agent"}[w.relation]
		if AgentOf(w.Resource) == asker {
			who = "itself"
		}
		if id := AgentOf(w.Resource); id != stranger && id != asker {
			who += " '" + id + "'"
		}
		return fmt.Sprintf("%s to %s%s", w.Action, who, through), ""
	}
	return string(w.Action), ""
}

// witnesses are the requests that the rules of two policies tell apart.
func witnesses(a, b *Policy) iter.Seq[witness] {
	layers := append(a.layers(), b.layers()...)
	return func(yield func(witness) bool) {
		left := maxWitnesses
		put := func(k kinship, r access.Request) bool {
			r.Principal = asker
			left--
			return left > 0 && yield(witness{r, k})
		}
		_ = filesOf(layers, placesOf(a, b), put) && toolsUsed(layers, put) && agentsOf(layers, put)
	}
}

// filesOf asks about files, and about tools that have paths of their own.
func filesOf(layers []*layer, places []string, put func(kinship, access.Request) bool) bool {
	places = append(places, "/pf-outside")
	for _, tool := range append([]string{""}, toolsWhere(layers, func(t Tool) bool { return t.AllowedPaths != nil })...) {
		for _, place := range places {
			if !put(kinship{}, access.Request{Action: access.FSRead, Resource: place, Tool: tool}) || !put(kinship{}, access.Request{Action: access.FSWrite, Resource: place, Tool: tool}) {
				return false
			}
		}
	}
	return true
}

// unnamed stands for all tools that no rule names.
const unnamed = "pf-any-tool"

func toolsUsed(layers []*layer, put func(kinship, access.Request) bool) bool {
	all := func(Tool) bool { return true }
	for _, tool := range slices.Concat([]string{unnamed}, execTools, toolsWhere(layers, all)) {
		if !put(kinship{}, access.Request{Action: access.ToolUse, Resource: tool}) {
			return false
		}
	}
	for _, a := range []access.Action{access.AgentSpawn, access.PolicyEdit} {
		if !put(kinship{}, access.Request{Action: a}) {
			return false
		}
	}
	return true
}

// agentsOf asks about every action that is aimed, at every agent that a rule
// names and at a stranger, in every relation.
func agentsOf(layers []*layer, put func(kinship, access.Request) bool) bool {
	tools := append([]string{""}, toolsWhere(layers, func(t Tool) bool { return !t.AllowedTargets.absent() || t.RequiresConfirmation })...)
	for _, target := range sessionsOf(layers) {
		for _, relation := range []string{"", targetParent, targetChildren, targetSiblings} {
			k := kinship{AgentOf(target), relation}
			for _, a := range targetActions {
				for _, tool := range tools {
					if !put(k, access.Request{Action: a, Resource: target, Tool: tool}) {
						return false
					}
				}
			}
		}
	}
	return true
}

// toolsWhere are the tools for which some layer's entry is so.
func toolsWhere(layers []*layer, is func(Tool) bool) []string {
	names := map[string]bool{}
	for _, l := range layers {
		for name, t := range l.src.Document.Tools {
			if is(t) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func toolsOf(a, b *Policy) []string {
	return toolsWhere(append(a.layers(), b.layers()...), func(Tool) bool { return true })
}

// sessionsOf are the agents and session keys that rules name, an instance of
// each pattern, and a stranger.
func sessionsOf(layers []*layer) []string {
	keys := map[string]bool{stranger: true, asker: true, "agent:" + stranger + ":pf:x": true}
	for _, l := range layers {
		for _, t := range l.src.Document.Targets {
			addAll(keys, t.IDs)
		}
		for _, t := range l.src.Document.Tools {
			addAll(keys, t.AllowedTargets.IDs)
		}
		if l.acl == nil {
			continue
		}
		for _, p := range slices.Concat(l.acl.allow.list, l.acl.deny.list) {
			for _, key := range p.instances() {
				keys[key] = true
				keys[AgentOf(key)] = true
			}
		}
	}
	delete(keys, "")
	return slices.Sorted(maps.Keys(keys))
}

func addAll(set map[string]bool, list []string) {
	for _, s := range list {
		set[s] = true
	}
}
