//go:build linux

package brokerhttp

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// untilGone is how long the end of a process may take to be told.
const untilGone = time.Minute

// hireFollowed hires over a socket, as a process of its own that then sleeps.
func hireFollowed(s *served, id string) *exec.Cmd {
	s.t.Helper()
	cmd := exec.Command("/proc/self/exe", "follow", OperatorSocket(s.dir), id)
	_, err := cmd.StdinPipe() // closed by Wait
	require.NoError(s.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // if it still runs
		_ = cmd.Wait()
	})
	said := make([]byte, len("hired"))
	_, err = io.ReadFull(out, said)
	require.NoError(s.t, err)
	require.Equal(s.t, "hired", string(said))
	return cmd
}

func awaitEnd(s *served, id string) broker.Agent {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), untilGone)
	defer cancel()
	a, err := s.b.AwaitAgent(ctx, id, func(a broker.Agent) bool { return !a.EndedAt.IsZero() })
	require.NoError(s.t, err)
	return a
}

// kill ends a process by SIGKILL.
func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

// D7, D17: the end of a process that runs as an agent is told by whichever server
// serves, also one that was not there when it came.
func TestFollowsWhoHired(t *testing.T) {
	dir := private(t)
	s := serve(t, dir, Options{})
	now, later, away := hireFollowed(s, "now"), hireFollowed(s, "later"), hireFollowed(s, "away")
	kill(t, now)
	a := awaitEnd(s, "now")
	require.Equal(t, broker.Exited, a.State)
	require.Equal(t, exitNoStart, a.Exit.Code)
	require.NoFileExists(t, AgentSocket(dir, "now"))

	s.end()
	kill(t, away)
	s = serve(t, dir, Options{})
	require.Equal(t, exitNoStart, awaitEnd(s, "away").Exit.Code)
	require.NoFileExists(t, AgentSocket(dir, "away"))
	require.FileExists(t, AgentSocket(dir, "later"))
	a, err := s.b.Agent(t.Context(), broker.OperatorIdentity(), "later")
	require.NoError(t, err)
	require.Equal(t, broker.Working, a.State)
	kill(t, later)
	require.Equal(t, exitNoStart, awaitEnd(s, "later").Exit.Code)
	inbox, err := s.as("").Mailbox(t.Context(), false)
	require.NoError(t, err)
	require.Len(t, inbox, 3, "each was told once")
}

// What a followed agent says of its end itself counts, and it may be said only
// once; one that was fired is fired.
func TestFollowedSaysItsEnd(t *testing.T) {
	dir := private(t)
	s := serve(t, dir, Options{})
	kid, fired := hireFollowed(s, "kid"), hireFollowed(s, "fired")
	c := s.as("kid")
	_, err := c.Exit(t.Context(), "kid", broker.Exit{Code: 7})
	require.NoError(t, err)
	kill(t, kid)
	require.NoError(t, s.b.Started(t.Context(), "kid", "another", ""))
	go kill(t, fired)
	_, err = s.as("").Fire(t.Context(), "fired")
	require.NoError(t, err)
	require.Equal(t, broker.Fired, awaitEnd(s, "fired").State)
	s.end()
	s = serve(t, dir, Options{})
	a, err := s.b.Agent(t.Context(), broker.OperatorIdentity(), "kid")
	require.NoError(t, err)
	require.Equal(t, broker.Working, a.State, "it is another process's now")
}

// A number that another process has taken is not that agent's.
func TestFollowsByMoreThanANumber(t *testing.T) {
	dir := private(t)
	s := serve(t, dir, Options{})
	for _, id := range []string{"old", "elsewhere", "mine"} {
		s.hire(id, "", "trusted")
	}
	own, err := openProcess(os.Getpid())
	require.NoError(t, err)
	defer func() { require.NoError(t, own.Close()) }()
	earlier := *own
	earlier.start--
	mine, err := s.srv.OwnProcess()
	require.NoError(t, err)
	require.NoError(t, s.b.Started(t.Context(), "mine", mine, ""))
	require.NoError(t, s.b.Started(t.Context(), "old", s.srv.named(&earlier), ""))
	other := Server{place: s.srv.place + 1}
	require.NoError(t, s.b.Started(t.Context(), "elsewhere", other.named(&earlier), ""))
	s.end()
	s = serve(t, dir, Options{})
	for id, state := range map[string]broker.State{"old": broker.Exited, "elsewhere": broker.Working, "mine": broker.Working} {
		a, err := s.b.Agent(t.Context(), broker.OperatorIdentity(), id)
		require.NoError(t, err)
		require.Equal(t, state, a.State, id)
	}
}

// Who cannot be followed is not hired so, and leaves no agent.
func TestFollowIsForASocket(t *testing.T) {
	s := serve(t, private(t), Options{Launch: func(context.Context, Launch) error { return nil }})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, s.srv.ListenTCP(t.Context(), l))
	remote, err := NewClient(Endpoint{URL: "http://" + l.Addr().String(), TokenFile: s.srv.TokenFile("")})
	require.NoError(t, err)
	t.Cleanup(remote.Close)
	body := HireBody{ID: "kid", Preset: "trusted", Cwd: t.TempDir(), Follow: true}
	_, err = remote.Hire(t.Context(), body)
	require.ErrorContains(t, err, "over a socket")
	body.Command = []string{"true"}
	_, err = s.as("").Hire(t.Context(), body)
	require.ErrorContains(t, err, "without a command")
	agents, err := s.as("").Agents(t.Context())
	require.NoError(t, err)
	require.Empty(t, agents)
	body.Follow = false
	_, err = s.as("").Hire(t.Context(), body)
	require.NoError(t, err)
}
