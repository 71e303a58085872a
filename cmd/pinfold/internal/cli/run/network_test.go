package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/permission"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

func networkPolicy(t *testing.T, network string) *permission.Policy {
	src, err := permission.Decode("p.yaml", []byte("version: 1\nname: p\nnetwork: "+network))
	require.NoError(t, err)
	p, err := permission.Compile(src, permission.Options{})
	require.NoError(t, err)
	return p
}

// What the command hires reaches no more than the run does.
func TestNetworkWithinPolicy(t *testing.T) {
	const some = "{mode: allow, allow: [a.example, '*.b.example:443']}"
	for _, c := range []struct {
		policy string
		flags  networkFlags
		mode   permission.NetworkMode // "": the flags are refused
		hosts  []string
	}{
		{"true", networkFlags{}, permission.NetworkHost, nil},
		{"true", networkFlags{net: netNone}, permission.NetworkNone, nil},
		{"true", networkFlags{hosts: []string{"c.example"}, ofAgent: []string{"d.example"}}, permission.NetworkAllow, []string{"c.example", "d.example"}},
		{"true", networkFlags{publish: []string{"80"}}, permission.NetworkAllow, nil},
		{some, networkFlags{}, permission.NetworkAllow, []string{"a.example", "*.b.example:443"}},
		{some, networkFlags{publish: []string{"80"}}, permission.NetworkAllow, []string{"a.example", "*.b.example:443"}},
		{some, networkFlags{net: netNone}, permission.NetworkNone, nil},
		{some, networkFlags{hosts: []string{"x.b.example:443"}, ofAgent: []string{"a.example", "d.example"}}, permission.NetworkAllow, []string{"x.b.example:443", "a.example"}},
		{some, networkFlags{hosts: []string{"x.b.example"}}, "", nil},
		{some, networkFlags{net: netHost}, "", nil},
		{"false", networkFlags{}, permission.NetworkNone, nil},
		{"false", networkFlags{hosts: []string{"a.example"}}, "", nil},
		{"false", networkFlags{net: netHost}, "", nil},
	} {
		policy := networkPolicy(t, c.policy)
		require.NoError(t, c.flags.check())
		err := c.flags.within(policy)
		if c.mode == "" {
			require.ErrorContains(t, err, "more than policy 'p' allows", "%+v", c)
			continue
		}
		require.NoError(t, err)
		held, err := c.flags.heldBy(policy)
		require.NoError(t, err)
		require.Equal(t, c.mode, held.Network().Mode, "%+v", c)
		require.ElementsMatch(t, c.hosts, held.Network().Hosts, "%+v", c)
		if len(c.flags.ofAgent) > 0 && c.policy == some {
			require.Equal(t, []string{"d.example"}, c.flags.lacks())
		}
	}
}

// A file is not given before there is a network that was closed.
func TestAfterReadWithoutNetwork(t *testing.T) {
	require.Error(t, (&afterRead{}).Ask(context.Background(), sandboxfs.AskRequest{}))
}
