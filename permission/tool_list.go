package permission

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// WithTools is the policy with a list of the tools that may be used: NAME is a tool, and
// the file skills that do the same; ask:NAME is one that has to be asked for each time.
// Tools that the list does not name are refused, or with the entry ask:* asked for. A
// list that names a tool which the policy refuses is an error.
func (p *Policy) WithTools(names []string) (*Policy, error) {
	doc := Document{Version: 1, Name: "tools", Tools: map[string]Tool{}, Defaults: map[access.Action]access.Effect{access.ToolUse: access.Deny}}
	refuses := func(name string) bool {
		return p.over(stageTool, &question{tool: name}, nil, nil).opinion == denied
	}
	same := map[string]bool{} // and whether it has to be asked for
	for _, item := range names {
		name, ask := strings.CutPrefix(item, "ask:")
		if name == "*" && ask {
			doc.Defaults[access.ToolUse] = access.Ask
			continue
		}
		switch name {
		case "":
			return nil, errors.New("tools: a name in the list is empty")
		case "*":
			return nil, errors.New("tools: '*' is all that the policy has: leave the list out, or write ask:*")
		}
		name = toolName(name)
		if refuses(name) {
			hint := ""
			if h := unknownTool(name); h != "" {
				hint = ": " + h
			}
			return nil, fmt.Errorf("tools: '%s' is more than policy '%s' allows%s", name, p.Name(), hint)
		}
		doc.Tools[name] = Tool{Enabled: true, RequiresConfirmation: ask}
		for _, other := range sameTools[name] {
			if already, is := same[other]; !refuses(other) {
				same[other] = ask && (already || !is) // what one tool may do unasked the skill may, too
			}
		}
	}
	for name, ask := range same {
		if _, named := doc.Tools[name]; !named {
			doc.Tools[name] = Tool{Enabled: true, RequiresConfirmation: ask}
		}
	}
	src, err := FromDocument("tools", doc)
	if err != nil {
		return nil, err
	}
	narrower, _, err := p.Narrow(src, Clamp) // what has to be asked for anyway stays so
	return narrower, err
}
