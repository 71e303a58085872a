//go:build linux

package launcher

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What the other side said last is heard also where it went without having read
// what was said to it: the kernel tells of that first.
func TestLastWordsAreHeard(t *testing.T) {
	ours, theirs, err := channelPair()
	require.NoError(t, err)
	defer unix.Close(ours)
	require.NoError(t, send(ours, message{Verb: sayCont}, -1))
	require.NoError(t, send(theirs, message{Verb: sayExit, Code: 129}, -1))
	require.NoError(t, unix.Close(theirs))
	m, _, err := receive(ours, -1)
	require.NoError(t, err)
	require.Equal(t, 129, m.Code)
	_, _, err = receive(ours, -1)
	require.ErrorIs(t, err, io.EOF)
}
