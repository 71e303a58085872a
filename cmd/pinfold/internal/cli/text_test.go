package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// No name may change on its way into a run, or `why` would answer for another.
func TestNamesSurvivePolicyFile(t *testing.T) {
	for _, want := range []string{"", "src", "a\nb", "n\xff", "\xff{}", `{"base64":"x"}`, "ü", "\u202e", clitest.Hostile} {
		data, err := json.Marshal(PathText(want))
		require.NoError(t, err)
		var got PathText
		require.NoError(t, json.Unmarshal(data, &got), "%s", data)
		require.Equal(t, want, string(got))
	}
	var got PathText
	require.Error(t, json.Unmarshal([]byte("7"), &got))
	require.Error(t, json.Unmarshal([]byte(`{"base64": "%"}`), &got))
}
