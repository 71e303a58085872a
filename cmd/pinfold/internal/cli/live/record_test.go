package live

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What ps shows as the name of a run is what stop and the others take.
func TestARunIsCalledByItsAgent(t *testing.T) {
	agent, named := Record{ID: "20261123T225505Z-7", App: "codex"}, Record{ID: "20261123T225505Z-8", App: "codex", Name: "build"}
	require.True(t, agent.Is("codex"))
	require.True(t, agent.Is("7"))
	require.False(t, agent.Is(""))
	require.True(t, named.Is("build"))
	require.False(t, named.Is("codex"), "its own name stands in the place of the agent's")
	require.False(t, (&Record{ID: "20261123T225505Z-9"}).Is(""), "no name is no name")
}
