package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// Options say how a Set is offered. The zero value is complete.
type Options struct {
	// Name and Version are what the server calls itself. "" is "pinfold" and
	// "devel".
	Name, Version string
	// Instructions are for the model, when a session begins. Keep them short.
	Instructions string
	// Structured is who gets structured content. See its values.
	Structured Structured
	// Call is how a skill is called. nil is the Set's own Call. Another one may
	// ask somebody before it calls the Set: see Ask.
	Call func(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error)
	// Tools are offered beside the skills. Their names are no skill's.
	Tools []Tool
	// Logger gets what is of no use to a client: sessions, broken peers. nil
	// discards it.
	Logger *slog.Logger
}

// Server is a Set as an MCP server. It may serve many sessions at once.
type Server struct {
	set  *fileskills.Set
	opts Options
	mcp  *mcp.Server

	mu     sync.Mutex          // guards listed
	listed map[string]struct{} // names of the skills that the SDK has

	tools map[string]Tool // beside the skills, by name

	rounds rounds // of calls whose user is being asked
}

// New makes the server. It does not listen.
func New(set *fileskills.Set, o Options) *Server {
	if o.Name == "" {
		o.Name = "pinfold"
	}
	if o.Version == "" {
		o.Version = "devel"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Call == nil {
		o.Call = set.Call
	}
	s := &Server{set: set, opts: o, listed: map[string]struct{}{}, tools: map[string]Tool{}}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: o.Name, Version: o.Version}, &mcp.ServerOptions{
		Instructions: o.Instructions,
		Logger:       o.Logger,
		SetCacheable: ownAnswer,
		Capabilities: &mcp.ServerCapabilities{
			Logging:   &mcp.LoggingCapabilities{}, //nolint:staticcheck // see log
			Tools:     &mcp.ToolCapabilities{ListChanged: true},
			Resources: &mcp.ResourceCapabilities{},
		},
	})
	s.mcp.AddReceivingMiddleware(s.perClient)
	s.addResources()
	s.addTools()
	s.Refresh()
	return s
}

// Refresh makes the list of tools what the Set says now, and tells the
// sessions when that is something else than before. Call it after the policy
// behind the Set was replaced.
func (s *Server) Refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := map[string]struct{}{}
	for _, skill := range s.set.Skills() {
		now[skill.Name] = struct{}{}
		if _, known := s.listed[skill.Name]; !known {
			s.mcp.AddTool(toolOf(&skill), s.handle)
		}
	}
	var gone []string
	for name := range s.listed {
		if _, still := now[name]; !still {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		s.mcp.RemoveTools(gone...)
	}
	s.listed = now
}

// lists says whether the SDK has the tool.
func (s *Server) lists(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.listed[name]
	return ok
}

// perClient fits answers to the client that asked.
func (s *Server) perClient(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListToolsResult); ok && err == nil && !s.structured(req.ClientInfo()) {
				list.Tools = withoutOutputSchemas(list.Tools)
			}
			return res, err
		case *mcp.ListResourcesRequest:
			return s.listResources(ctx, req)
		case *mcp.CallToolRequest:
			res, err := s.callAny(ctx, method, req, next)
			if called, ok := res.(*mcp.CallToolResult); ok && err == nil && !s.structured(req.ClientInfo()) {
				delete(called.Meta, ErrorKey) // Gemini CLI shows it to its model as a second text
			}
			return res, err
		}
		return next(ctx, method, req)
	}
}

// callAny calls what has the name, whether it is listed or not.
func (s *Server) callAny(ctx context.Context, method string, req *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	if s.lists(req.Params.Name) {
		return next(ctx, method, req)
	}
	if _, ours := s.tools[req.Params.Name]; ours {
		return s.use(ctx, req)
	}
	// A skill by its alias, or one that the policy does not offer: the refusal says
	// what would be allowed. A name that no skill has is the SDK's to refuse.
	if res := s.call(ctx, req); !unknown(res) {
		return res, nil
	}
	return next(ctx, method, req)
}
