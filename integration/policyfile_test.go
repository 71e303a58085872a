package integration

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// documentOnly are the flags of a policy line that the program does not have,
// by their keys in a policy's document.
var documentOnly = map[string]string{"--read": "read", "--ask-read": "ask_read", "--ask-write": "ask_write"}

// programFlags are the flags of a policy line for the program: as they are, or
// where one is a document's, a document that has them all.
func programFlags(t *testing.T, policy []string) []string {
	keys := map[string]string{"-w": "write", "--hide": "hide", "--protect": "protect"}
	files, named := map[string][]string{}, false
	for i := 0; i+1 < len(policy); i += 2 {
		key, only := documentOnly[policy[i]]
		if named = named || only; !only {
			key = keys[policy[i]]
		}
		files[key] = append(files[key], policy[i+1])
	}
	if !named {
		return policy
	}
	require.NotContains(t, files, "", "a flag that no document has stands beside one that only a document has")
	text, err := json.Marshal(map[string]any{"version": 1, "name": "corpus", "extends": "sandboxed", "fs": files})
	require.NoError(t, err)
	f, err := os.CreateTemp(arena, "policy-*.yaml") // JSON is YAML
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.Remove(f.Name())) })
	_, err = f.Write(text)
	require.NoError(t, err)
	require.NoError(t, f.Chmod(0o644))
	require.NoError(t, f.Close())
	return []string{"--policy", f.Name()}
}
