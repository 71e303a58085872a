package mcpserver

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// toolOf describes a skill in the protocol's words. Every hint is given, since
// clients differ in what a missing one means to them.
func toolOf(s *fileskills.Skill) *mcp.Tool {
	writes := s.Writes()
	closed := false
	destructive := writes && s.Destructive
	t := &mcp.Tool{
		Name:        s.Name,
		Description: s.Description,
		InputSchema: s.InputSchema,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint:    !writes,
			DestructiveHint: &destructive,
			IdempotentHint:  !writes || s.Idempotent,
			OpenWorldHint:   &closed,
		},
	}
	if len(s.OutputSchema) > 0 { // an empty RawMessage is no schema
		t.OutputSchema = s.OutputSchema
	}
	return t
}

// withoutOutputSchemas is the list for a client that gets no structured
// content. The tools in it are copies: the SDK shares them between sessions.
func withoutOutputSchemas(tools []*mcp.Tool) []*mcp.Tool {
	out := make([]*mcp.Tool, len(tools))
	for i, t := range tools {
		plain := *t
		plain.OutputSchema = nil
		out[i] = &plain
	}
	return out
}
