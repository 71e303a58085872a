package cli

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A name that a terminal would obey does not reach it in JSON either, and is the
// same name for who reads the JSON.
func TestJSONForTerminals(t *testing.T) {
	name := "src/\x1b[2J\u009b31m\x7f\u202e\U000e0041\u00e9<&日"
	for _, indent := range []string{"", "  "} {
		var b bytes.Buffer
		require.NoError(t, EncodeJSON(&b, map[string]string{"resource": name}, indent))
		text := b.String()
		for _, c := range []string{"\x1b", "\u009b", "\x7f", "\u202e", "\U000e0041"} {
			require.NotContains(t, text, c)
		}
		require.Contains(t, text, "\u00e9<&日")
		var back map[string]string
		require.NoError(t, json.Unmarshal(b.Bytes(), &back))
		require.Equal(t, name, back["resource"])
	}
}
