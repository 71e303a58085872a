package mcpserver

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// ErrorKey is the key in _meta of a result with isError whose value is the
// fileskills.Error as JSON, for clients that get structured content.
const ErrorKey = "io.github.pinfold-dev/error"

// handle is the handler of every tool.
func (s *Server) handle(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return s.call(ctx, req), nil
}

func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest) *mcp.CallToolResult {
	start := time.Now()
	ctx, free := untilClosing(ctx)
	defer free()
	ctx = context.WithValue(ctx, sessionKey{}, req.Session)
	ctx = fileskills.WithSession(ctx, req.Session.ID())
	round := s.rounds.begin(req)
	ctx, stop := reportProgress(within(ctx, round), req)
	res, err := s.opts.Call(ctx, req.Params.Name, req.Params.Arguments)
	stop() // before the result: progress after it would be about nothing
	if err != nil {
		if ask := s.rounds.next(round); ask != nil {
			return ask
		}
	}
	s.log(ctx, req, err, time.Since(start))
	if err != nil {
		return failed(err)
	}
	return answered(res, s.structured(req.ClientInfo()))
}

// unknown says whether a result is about a skill that does not exist here.
func unknown(res *mcp.CallToolResult) bool {
	e, ok := res.Meta[ErrorKey].(*fileskills.Error)
	return ok && e.Code == fileskills.CodeUnknownSkill
}

// answered is a result in the protocol's words.
func answered(res *fileskills.Result, structured bool) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Content: make([]mcp.Content, 0, 1+len(res.Parts))}
	if res.Text != "" {
		out.Content = append(out.Content, &mcp.TextContent{Text: res.Text})
	}
	for _, p := range res.Parts {
		out.Content = append(out.Content, partOf(p))
	}
	if structured {
		out.StructuredContent = &res.Meta
	}
	return out
}

// failed is an error in the protocol's words. It has no structured content,
// which would have to fit the output schema.
func failed(err error) *mcp.CallToolResult {
	out := &mcp.CallToolResult{
		IsError: true,
		Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}},
	}
	var e *fileskills.Error
	if errors.As(err, &e) {
		out.Meta = mcp.Meta{ErrorKey: e}
	}
	return out
}
