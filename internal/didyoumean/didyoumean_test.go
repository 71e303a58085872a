package didyoumean

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWord(t *testing.T) {
	words := []string{"fs.read", "fs.write", "msg.send"}
	require.Equal(t, "fs.write", Word("fs.wite", words))
	require.Equal(t, "fs.read", Word("FS.raed", words))
	require.Equal(t, "msg.send", Word("msg.send", words))
	require.Empty(t, Word("teleport", words))
	require.Empty(t, Word(strings.Repeat("x", 1<<20), words))
	require.Equal(t, "did you mean 'fs.write'?", Hint("fs.wite", words))
	require.Equal(t, "want one of: fs.read, fs.write, msg.send", Hint("teleport", words))
}
