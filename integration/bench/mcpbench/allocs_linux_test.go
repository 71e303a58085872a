package mcpbench

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAllocationsOfEverySkillAreCounted(t *testing.T) {
	all, err := Allocations(t.Context(), t.TempDir(), 3)
	require.NoError(t, err)
	require.Len(t, all, len(allocations), "no call is left over")
	for _, a := range all {
		require.Positive(t, a.Allocs, a.Skill)
		require.Greater(t, a.Bytes, a.Allocs, a.Skill)
	}
	var b strings.Builder
	PrintAllocations(&b, all)
	require.Regexp(t, `(?m)^ *edit_file +1 KiB +\d+\.\d +\d+ *$`, b.String())
}
