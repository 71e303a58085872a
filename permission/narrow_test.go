package permission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
)

// M6: a child that asks for more than there is is refused, naming the rule; it
// is clamped only where that is asked for, and the clamp is reported.
func TestExcessM6(t *testing.T) {
	parent := compile(t, "version: 1\nname: boss\nextends: sandboxed\nfs: {write: [docs], ask_write: [src]}\ntools: {nexus_send: {allowed_targets: parent}}\nbash_policy: test\ncross_send: {mode: allowlist, allowlist: ['agent:main:*']}")
	for text, want := range map[string]string{
		"fs: {write: [docs/a, lib]}":                              "p.yaml:3:22: 'lib' may not be written in 'boss'",
		"fs: {write: [src/a]}":                                    "p.yaml:3:14: 'src/a' may be written only after asking in 'boss'",
		"fs: {write: [docs2]}":                                    "p.yaml:3:14: 'docs2' may not be written in 'boss'",
		"fs: {write: ['**/x']}":                                   "p.yaml:3:14: '**/x' may not be written in 'boss'",
		"fs: {outside: ask}":                                      "p.yaml:3:6: files outside the project are deny in 'boss'",
		"tools: {run_python: {}}":                                 "p.yaml:3:9: tool 'run_python' goes beyond what 'boss' has",
		"tools: {nexus_send: {allowed_targets: family}}":          "p.yaml:3:22: tool 'nexus_send' may target family, and in 'sandboxed' only parent",
		"targets: {msg.send: [far]}":                              "p.yaml:3:11: action 'msg.send' may target far, and in 'sandboxed' only parent",
		"defaults: {agent.spawn: allow}":                          "p.yaml:3:12: action 'agent.spawn' is allow, and in 'boss' deny",
		"network: true":                                           "p.yaml:3:1: the network is off in 'boss'",
		"bash_policy: build_test":                                 "p.yaml:3:1: bash_policy build_test goes beyond test of 'boss'",
		"cross_send: {mode: bypass}":                              "p.yaml:3:14: cross_send mode bypass goes beyond allowlist of 'boss'",
		"cross_send: {mode: allowlist, allowlist: ['agent:x:*']}": "p.yaml:3:43: sending to 'agent:x:*' goes beyond the allowlist of 'boss'",
	} {
		layer := decode(t, "version: 1\nname: worker\n"+text)
		_, _, err := parent.Narrow(layer, Reject)
		require.ErrorContains(t, err, want)
		child, excess, err := parent.Narrow(layer, Clamp)
		require.NoError(t, err)
		require.Contains(t, excess[0].Source.String()+": "+excess[0].Message, want)
		require.False(t, widens(diff(parent, child)), text)
	}
	for _, text := range []string{
		"fs: {write: [docs/a, 'docs/**/b'], ask_write: [src/x], hide: [keys]}", "tools: {nexus_send: {allowed_targets: []}}",
		"targets: {msg.send: parent}", "network: false", "bash_policy: explore", "defaults: {agent.spawn: deny}",
		"cross_send: {mode: allowlist, allowlist: ['agent:main:x', 'agent:main:y:*']}",
	} {
		_, excess, err := parent.Narrow(decode(t, "version: 1\nname: worker\n"+text), Reject)
		require.NoError(t, err, text)
		require.Empty(t, excess)
	}
}

// A child has its parent's chain before its own.
func TestChild(t *testing.T) {
	boss := preset(t, "trusted")
	child, _, err := boss.Child(preset(t, "worker", "out"), Reject)
	require.NoError(t, err)
	require.Equal(t, "trusted sandboxed worker caller", strings.Join(layerNames(child), " "))
	require.Equal(t, access.Allow, file(child, access.FSWrite, "out/x").Effect)
	require.Equal(t, access.Deny, file(child, access.FSWrite, "src/x").Effect)

	// M6: the preset itself is more than the parent has.
	_, _, err = child.Child(preset(t, "trusted"), Reject)
	require.ErrorContains(t, err, "preset:trusted:")
	require.ErrorContains(t, err, "'.' may not be written in 'worker'")
	grandchild, excess, err := child.Child(preset(t, "trusted"), Clamp)
	require.NoError(t, err)
	require.NotEmpty(t, excess)
	require.False(t, widens(diff(child, grandchild)))
}

// M12: yolo is the operator's to give: no agent passes it on, not even clamped,
// and a child of one has what its own policy says.
func TestYoloIsNotInheritedM12(t *testing.T) {
	for _, on := range []OnExcess{Reject, Clamp} {
		_, _, err := preset(t, "yolo").Child(preset(t, "yolo"), on)
		require.ErrorContains(t, err, "policy 'yolo' is the operator's to give: no agent passes it on")
	}
	child, _, err := preset(t, "yolo").Child(preset(t, "sandboxed"), Reject)
	require.NoError(t, err)
	require.False(t, widens(diff(child, preset(t, "sandboxed"))))
	require.False(t, widens(diff(preset(t, "sandboxed"), child)))
}
