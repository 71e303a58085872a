package fileskills

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// AnthropicTool is a tool definition of Anthropic's Messages API, as it stands
// in the request's tools.
type AnthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// AnthropicTools are the offered skills for Anthropic's Messages API.
func (s *Set) AnthropicTools() []AnthropicTool {
	var tools []AnthropicTool
	for _, k := range s.Skills() {
		tools = append(tools, AnthropicTool{k.Name, k.Description, k.InputSchema})
	}
	return tools
}

// OpenAITool is a function of OpenAI's Responses API, as it stands in the
// request's tools. The Chat Completions API wants all but Type one level
// deeper, under "function".
type OpenAITool struct {
	Type        string          `json:"type"` // "function"
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// OpenAITools are the offered skills for OpenAI's APIs. strict makes schemas
// for strict mode: every argument is required, an optional one may be null,
// and there are no defaults. Call takes either form.
func (s *Set) OpenAITools(strict bool) []OpenAITool {
	var tools []OpenAITool
	for _, k := range s.Skills() {
		t := OpenAITool{"function", k.Name, k.Description, k.InputSchema, strict}
		if strict {
			strictly := inputSchema(byName()[k.Name].typ)
			makeStrict(strictly)
			t.Parameters = mustJSON(strictly)
		}
		tools = append(tools, t)
	}
	return tools
}

func makeStrict(s *jsonschema.Schema) {
	s.Default = nil
	if s.Items != nil {
		makeStrict(s.Items)
	}
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		makeStrict(p)
		if slices.Contains(s.Required, name) {
			continue
		}
		s.Required = append(s.Required, name)
		p.Types, p.Type = []string{p.Type, "null"}, ""
		if p.Enum != nil {
			p.Enum = append(p.Enum, nil)
		}
	}
}
