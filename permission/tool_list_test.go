package permission

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
)

// Whatever a list does not name is refused, though the policy has it; a list never gives
// what the policy has not.
func TestWithTools(t *testing.T) {
	p, err := Preset("sandboxed", Options{})
	require.NoError(t, err)
	effect := func(p *Policy, tool string) access.Effect {
		return Enforcer{Policy: p}.Check(t.Context(), access.Request{Principal: "a", Action: access.ToolUse, Resource: tool}).Effect
	}
	require.Equal(t, access.Allow, effect(p, "Grep"), "without the list")
	require.Equal(t, access.Allow, effect(p, "write_file"))

	only, err := p.WithTools([]string{"Read", "ask:Edit", "append_file"})
	require.NoError(t, err)
	for tool, want := range map[string]access.Effect{
		"Read": access.Allow, "read_file": access.Allow, "Edit": access.Ask, "edit_file": access.Ask, "append_file": access.Allow,
		"Grep": access.Deny, "write_file": access.Deny, "nexus_send": access.Deny, "no_such": access.Deny,
	} {
		require.Equal(t, want, effect(only, tool), tool)
	}
	asks, err := p.WithTools([]string{"Read", "ask:*"})
	require.NoError(t, err)
	require.Equal(t, access.Ask, effect(asks, "write_file"))
	require.Equal(t, access.Deny, effect(asks, "no_such"), "the policy has none")
	none, err := p.WithTools([]string{})
	require.NoError(t, err)
	require.Equal(t, access.Deny, effect(none, "Read"))

	for _, list := range [][]string{{"nexus_create"}, {"ask:nexus_create"}, {"no_such"}, {""}, {"*"}, {"ask:"}} {
		_, err := p.WithTools(list)
		require.Error(t, err, list)
	}
}
