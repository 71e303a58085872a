package permission

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Each mistake is found in its line; the same document without it has none.
func TestLint(t *testing.T) {
	require.Empty(t, compile(t, "version: 1\nextends: sandboxed\nfs: {write: [docs], hide: ['**/.env']}\ntools: {run_python: {enabled: false}, nexus_send: {allowed_targets: parent}}").lint())
	require.Empty(t, compile(t, example).lint())
	for text, want := range map[string]string{
		"fs: {write: [docs, docs/a]}":                "p.yaml:3:20: 'docs/a' is covered by 'docs' already (drop it)",
		"fs: {write: [docs, docs/**]}":               "p.yaml:3:20: 'docs/**' is covered by 'docs' already (drop it)",
		"fs: {write: [docs/x], hide: [docs]}":        "p.yaml:3:14: 'docs/x' is hidden by 'p', so it cannot be written (drop it, or hide less)",
		"fs: {write: [docs/x], protect: ['*/x']}":    "p.yaml:3:14: 'docs/x' is protected by 'p', so it cannot be written (drop it, or protect less)",
		"fs: {write: [.git/hooks]}":                  "p.yaml:3:14: '.git/hooks' is always protected, so it cannot be written",
		"tools: {Raed: {}}":                          "p.yaml:3:9: unknown tool 'Raed' (did you mean 'Read'?)",
		"tools: {Read: {allowed_paths: []}}":         "p.yaml:3:16: tool 'Read' may touch no path",
		"tools: {nexus_send: {allowed_targets: []}}": "p.yaml:3:22: tool 'nexus_send' may target nobody",
		"cross_send: {mode: allowlist}":              "p.yaml:3:1: an empty allowlist lets nothing be sent",
		"tools: {run_python: {}}":                    "p.yaml:3:9: tool 'run_python' goes beyond what 'sandboxed' has (rules only narrow",
		"network: true":                              "p.yaml:3:1: the network is off in 'sandboxed'",
	} {
		found := compile(t, "version: 1\nextends: sandboxed\n"+text).lint()
		require.Len(t, found, 1, text)
		require.Contains(t, found[0].String(), want)
		require.Equal(t, pathresolver.SeverityWarning, found[0].Severity)
	}
	require.Contains(t, compile(t, "version: 1\nextends: READ_ONLY\nbash_policy: test").lint()[0].String(),
		"p.yaml:3:1: bash_policy test goes beyond read_only of 'READ_ONLY'")
}
