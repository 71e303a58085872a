package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is a tool that is no skill.
type Tool struct {
	Name, Description string
	InputSchema       json.RawMessage
	ReadOnly          bool // changes nothing
	Destructive       bool // may end or remove something
	Idempotent        bool // a second call with the same input changes nothing more
	OpenWorld         bool // reaches beyond this machine

	// Unlisted keeps it from being offered. A call all the same goes to Call,
	// which refuses in its own words.
	Unlisted bool
	// Call gets the arguments as they were sent, which nobody has checked. Its
	// text is for the model, and so is its error's, fit to be shown: it is a
	// result with isError, and a *fileskills.Error stands in _meta too.
	Call func(ctx context.Context, input json.RawMessage) (string, error)
}

// addTools offers what Options.Tools lists.
func (s *Server) addTools() {
	for _, t := range s.opts.Tools {
		s.tools[t.Name] = t
		if t.Unlisted {
			continue
		}
		s.mcp.AddTool(&mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.InputSchema,
			Annotations: &mcp.ToolAnnotations{
				ReadOnlyHint: t.ReadOnly, DestructiveHint: &t.Destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &t.OpenWorld,
			},
		}, s.use)
	}
}

// use is the handler of every Tool.
func (s *Server) use(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	start := time.Now()
	ctx, free := untilClosing(ctx)
	defer free()
	round := s.rounds.begin(req)
	ctx = within(context.WithValue(ctx, sessionKey{}, req.Session), round)
	input := req.Params.Arguments
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	text, err := s.tools[req.Params.Name].Call(ctx, input)
	if err != nil {
		if ask := s.rounds.next(round); ask != nil {
			return ask, nil
		}
	}
	s.log(ctx, req, err, time.Since(start))
	if err != nil {
		return failed(err), nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}
