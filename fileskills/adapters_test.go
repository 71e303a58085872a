package fileskills

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnthropicTools(t *testing.T) {
	tools := newWorld(t).set.AnthropicTools()
	names := map[string]bool{}
	for _, tool := range tools {
		names[tool.Name] = true
		require.NotEmpty(t, tool.Description)
		require.True(t, json.Valid(tool.InputSchema))
	}
	require.True(t, names["write_file"])
	b, err := json.Marshal(tools[0])
	require.NoError(t, err)
	require.Contains(t, string(b), `"input_schema":{"type":"object"`)
}

func TestOpenAIToolsStrict(t *testing.T) {
	w := newWorld(t)
	for _, tool := range w.set.OpenAITools(true) {
		var s map[string]any
		require.NoError(t, json.Unmarshal(tool.Parameters, &s))
		checkStrict(t, tool.Name, s)
	}
	// The form that strict mode makes models send is taken.
	w.ok("write_file", args{"path": "out/a", "content": "x", "overwrite": nil, "dry_run": nil, "expected_hash": nil})
}

// checkStrict walks a schema for what strict mode demands: every property
// required, no additional ones, no keyword that it does not know.
func checkStrict(t *testing.T, at string, s map[string]any) {
	t.Helper()
	for _, keyword := range []string{"default", "minimum", "maximum"} {
		require.NotContains(t, s, keyword, at)
	}
	if items, ok := s["items"].(map[string]any); ok {
		checkStrict(t, at+"[]", items)
	}
	props, ok := s["properties"].(map[string]any)
	if !ok {
		return
	}
	require.Equal(t, false, s["additionalProperties"], at)
	required, _ := s["required"].([]any)
	require.Len(t, required, len(props), at)
	for name, p := range props {
		require.Contains(t, required, name, at)
		checkStrict(t, at+"."+name, p.(map[string]any))
	}
}
