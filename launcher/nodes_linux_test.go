package launcher

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What takes a socket's place between the look at it and the set-up is not shown, also
// where it is a socket itself; nor is one that a link leads to.
func TestSocketIsTheOneThatWasOpened(t *testing.T) {
	_, out := project(t, 0)
	listen(t, out+"/s")
	listen(t, out+"/other")
	var h hostFacts
	require.NoError(t, h.lookAtSockets(Config{Sockets: map[string]string{"/run/s": out + "/s"}}))
	defer h.letGo()
	node := h.Sockets[0]
	shown := func() error {
		fd, err := take(planStep{Do: doBind, Path: node.Path, From: node.From, Is: node.Is}, attrReadOnly)
		if err == nil {
			require.NoError(t, unix.Close(fd))
		}
		return err
	}
	if err := shown(); os.Geteuid() == 0 {
		require.NoError(t, err)
	} else {
		require.ErrorIs(t, err, unix.EPERM, "that it is the same has been found by then")
	}
	require.NoError(t, os.Rename(out+"/other", out+"/s"))
	require.ErrorContains(t, shown(), "something else has taken its place")
	require.NoError(t, os.Remove(out+"/s"))
	require.NoError(t, os.Symlink("other", out+"/s"))
	require.Error(t, shown())

	listen(t, out+"/third")
	require.NoError(t, os.Symlink("third", out+"/link"))
	require.NoError(t, os.Symlink(out, out+"/dir"))
	for _, name := range []string{out + "/link", out + "/dir/third", out + "/secret", out, "third"} {
		var h hostFacts
		err := h.lookAtSockets(Config{Sockets: map[string]string{"/run/s": name}})
		assert.Error(t, err, name)
		h.letGo()
	}
}
