package inside

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A file that lies where a run shows its policy makes nothing a run.
func TestReadOnlyMount(t *testing.T) {
	require.False(t, Run())
	require.False(t, readOnlyMount(t.TempDir()))
}
