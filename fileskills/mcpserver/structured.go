package mcpserver

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Structured is which clients get structured content and output schemas.
//
// Several agents show their model the structured content alone and drop the
// text beside it. To them a read_file with both would be a read_file without
// the file, and text inside JSON, where every quote and newline is escaped,
// serves a model badly. A body is never sent twice, so the choice is made by
// client.
type Structured uint8

// The choices.
const (
	// StructuredAuto is everybody but the agents of agentClients.
	StructuredAuto Structured = iota
	StructuredAlways
	StructuredNever
)

// agentClients are the beginnings of the names that agents give themselves
// when a session begins, lower-case. Claude Code, Codex and VS Code are known
// to drop the text (anthropics/claude-code#79944, codex-rs
// protocol/src/models.rs, microsoft/vscode#290063); the others have no use
// for the structure, or changed their mind more than once.
var agentClients = []string{
	"amp", "claude", "cline", "codex", "continue", "copilot", "crush", "cursor",
	"gemini", "github-copilot", "goose", "jetbrains", "kilo", "kimi", "kiro",
	"lm studio", "lmstudio", "opencode", "openai", "qwen", "roo",
	"visual studio", "vscode", "warp", "windsurf", "zed",
}

// structured says whether a client gets structured content. nil is a client
// that did not say who it is.
func (s *Server) structured(client *mcp.Implementation) bool {
	switch s.opts.Structured {
	case StructuredAlways:
		return true
	case StructuredNever:
		return false
	}
	if client == nil {
		return true
	}
	name := strings.ToLower(client.Name)
	for _, agent := range agentClients {
		if strings.HasPrefix(name, agent) {
			return false
		}
	}
	return true
}
