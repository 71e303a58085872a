//go:build linux

package brokerhttp

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// D32: through a relay an agent speaks out of the view that another process has
// made for it, and only out of that.
func TestRelayIsForOneView(t *testing.T) {
	s := serve(t, private(t), Options{})
	root := s.hire("boss", "", "trusted")
	outside, err := os.MkdirTemp("/tmp", "pf")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(outside)) })
	inside := filepath.Join(outside, "own", "boss.sock")
	elsewhere := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Geteuid() != 0 {
		elsewhere.Cloneflags |= syscall.CLONE_NEWUSER
		elsewhere.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	}
	r, err := NewRelay(t.Context(), inside, "boss", root.Socket, nil)
	require.NoError(t, err)
	require.Contains(t, stranger(t, inside, nil), "refused: the broker does not answer", "whoever is beside the relay is in no view")
	require.Equal(t, "you are boss", stranger(t, inside, elsewhere))
	require.NoError(t, r.Close())
	require.NoFileExists(t, inside)

	r, err = NewRelay(t.Context(), inside, "boss", root.Socket, nil)
	require.NoError(t, err)
	s.end()
	require.Contains(t, stranger(t, inside, elsewhere), "refused: the broker does not answer", "whom it leads to is gone")
	require.NoError(t, r.Close())
}

// An agent that was hired without the server has a socket for its view alone.
func TestAdmitIsForAView(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	s.srv.Dismiss("boss")
	socket, err := s.srv.Admit(t.Context(), "boss")
	require.NoError(t, err)
	require.Equal(t, AgentSocket(s.dir, "boss"), socket)
	require.Contains(t, stranger(t, socket, nil), "another process namespace")
}
