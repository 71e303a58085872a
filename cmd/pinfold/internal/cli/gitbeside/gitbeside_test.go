package gitbeside

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What --env gives git by its variables stays, and ours follow.
func TestGitSettings(t *testing.T) {
	ours := [][2]string{{"gc.packRefs", "false"}, {"gc.reflogExpire", "never"}}
	caller := func(name string) (string, bool) {
		require.Equal(t, "GIT_CONFIG_COUNT", name)
		return "1", true
	}
	after := func(n, m, sum string) []string {
		return []string{"GIT_CONFIG_KEY_" + n + "=gc.packRefs", "GIT_CONFIG_VALUE_" + n + "=false",
			"GIT_CONFIG_KEY_" + m + "=gc.reflogExpire", "GIT_CONFIG_VALUE_" + m + "=never", "GIT_CONFIG_COUNT=" + sum}
	}
	require.Equal(t, after("0", "1", "2"), Environment([]string{"HOME=/x"}, caller, ours))
	require.Equal(t, after("3", "4", "5"), Environment([]string{"GIT_CONFIG_COUNT=9", "GIT_CONFIG_COUNT=3"}, caller, ours))
	require.Equal(t, after("1", "2", "3"), Environment([]string{"GIT_CONFIG_COUNT"}, caller, ours))
	require.Equal(t, after("0", "1", "2"), Environment([]string{"GIT_CONFIG_COUNT="}, caller, ours))
	require.Empty(t, Environment([]string{"GIT_CONFIG_COUNT=many"}, caller, ours))
	require.Empty(t, Environment([]string{"GIT_CONFIG_COUNT=-1"}, caller, ours))
	require.Empty(t, Environment(nil, caller, nil))
}
