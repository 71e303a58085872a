//go:build !portable

package fileskills

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRenameOntoEmptyDirectory: it is replaced by the move itself. os.Root
// refuses that, and so do the skills where only that is to be had.
func TestRenameOntoEmptyDirectory(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.path("out/d"), 0o755))
	require.NoError(t, os.MkdirAll(w.path("out/empty"), 0o755))
	w.write("out/d/f", "f")
	w.ok("rename", args{"source": "out/d", "destination": "out/empty", "overwrite": true})
	require.Equal(t, "f", w.read("out/empty/f"))
	require.Equal(t, []string{"empty"}, w.names("out"))
}
