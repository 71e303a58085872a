package skills

import (
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/nexus"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// tools are those beside the skills.
func (f *mcpFlags) tools(r *pathresolver.Resolver) []mcpserver.Tool {
	var tools []mcpserver.Tool
	if f.agent != nil {
		tools = nexus.Tools(f.agent.Client, f.agent.own)
	}
	if f.prompt {
		tools = append(tools, f.promptTool(r))
	}
	return tools
}

// askInstructions tell a model what it may ask for, and that it has to wait.
func (f *mcpFlags) askInstructions() string {
	if f.nobody || !f.person && f.agent == nil || len(f.cfg.AskWrite) == 0 {
		return ""
	}
	shown := make([]string, 0, instructedPaths)
	for _, glob := range f.cfg.AskWrite[:min(len(f.cfg.AskWrite), instructedPaths)] {
		shown = append(shown, pathresolver.EscapePath(glob))
	}
	return " Writing " + strings.Join(shown, ", ") + " is asked for first: the call waits for the answer."
}
