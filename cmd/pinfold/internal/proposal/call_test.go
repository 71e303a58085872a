package proposal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// TestEverySkillThatWritesIsConsidered holds that each skill that writes shows
// what it would change, or is one whose arguments say it all.
func TestEverySkillThatWritesIsConsidered(t *testing.T) {
	considered := append([]string{"mkdir", "rename", "delete_file", "apply_patch"}, skills...)
	var writing []string
	for _, s := range fileskills.All() {
		if s.Writes() {
			writing = append(writing, s.Name)
		}
	}
	require.ElementsMatch(t, writing, considered)
}
