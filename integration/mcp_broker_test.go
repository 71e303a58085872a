package integration

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// eventually is how long a test waits for what must happen: long, since it fails
// only where it never does.
const eventually = 2 * time.Minute

// serving is a broker in a process of its own, and a project.
type serving struct {
	t       *testing.T
	state   string // XDG_STATE_HOME
	project string
}

// serveBroker starts `pinfold serve`. The project has src/a.go and docs.
func serveBroker(t *testing.T) *serving {
	t.Helper()
	// A socket's path is short.
	dir, err := os.MkdirTemp("/tmp", "pf")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	s := &serving{t: t, state: filepath.Join(dir, "s"), project: filepath.Join(dir, "p")}
	for _, sub := range []string{"src", "docs"} {
		require.NoError(t, os.MkdirAll(filepath.Join(s.project, sub), 0o755))
	}
	s.write("src/a.go", "package a\n")
	cmd := s.command("", "serve")
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(said)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "pinfold: serving ")
	rest := make(chan string, 1)
	go func() { text, _ := io.ReadAll(lines); rest <- string(text) }()
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		text := <-rest
		require.NoError(t, cmd.Wait(), text)
	})
	return s
}

// command is pinfold as an agent, or as the operator for "".
func (s *serving) command(agent string, args ...string) *exec.Cmd {
	cmd := exec.Command(pinfold, args...)
	cmd.Dir = s.project
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+s.state, "PINFOLD_SOCKET="+s.socket(agent))
	return cmd
}

func (s *serving) socket(agent string) string {
	if agent == "" {
		return ""
	}
	return brokerhttp.AgentSocket(filepath.Join(s.state, "pinfold", "broker"), agent)
}

// as is an agent's connection to the broker; "" is the operator's.
func (s *serving) as(agent string) *brokerhttp.Client {
	s.t.Helper()
	at := s.socket(agent)
	if agent == "" {
		at = brokerhttp.OperatorSocket(filepath.Join(s.state, "pinfold", "broker"))
	}
	c, err := brokerhttp.NewClient(brokerhttp.Endpoint{Socket: at})
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

// hire makes an agent with a policy document.
func (s *serving) hire(manager, id, document string) {
	s.t.Helper()
	body := brokerhttp.HireBody{ID: id, Task: "a task", Policy: &brokerhttp.Text{Name: id + ".yaml", Text: "version: 1\n" + document}}
	if manager == "" {
		body.Cwd = s.project
	}
	_, err := s.as(manager).Hire(s.t.Context(), body)
	require.NoError(s.t, err)
}

func (s *serving) write(name, content string) {
	require.NoError(s.t, os.WriteFile(filepath.Join(s.project, name), []byte(content), 0o644))
}

func (s *serving) read(name string) string {
	data, err := os.ReadFile(filepath.Join(s.project, name))
	require.NoError(s.t, err)
	return string(data)
}

// server is `pinfold mcp` as an agent, over its standard streams or over HTTP.
func (s *serving) server(agent string, overHTTP bool, args ...string) *mcp.ClientSession {
	s.t.Helper()
	session, err := connect(s.t, s.command(agent, append([]string{"mcp", "-C", s.project}, args...)...), overHTTP)
	require.NoError(s.t, err)
	return session
}

// asking is `pinfold mcp` over standard streams, for a client of that version of
// the protocol whose user answers what ask says.
func (s *serving) asking(agent, version string, ask func(question string) string, args ...string) *mcp.ClientSession {
	s.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: ask(r.Params.Message)}, nil
		},
	})
	cmd := s.command(agent, append([]string{"mcp", "-C", s.project}, args...)...)
	session, err := client.Connect(s.t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, session.Close()) })
	return session
}

// boss is the manager of the tests.
const boss = "boss"

// pending waits until boss has one request to answer.
func (s *serving) pending() broker.Request {
	s.t.Helper()
	c := s.as(boss)
	for end := time.Now().Add(eventually); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		rows, err := c.Requests(s.t.Context())
		require.NoError(s.t, err)
		if len(rows) == 1 {
			return rows[0]
		}
		require.Empty(s.t, rows)
	}
	s.t.Fatal("nothing was asked for")
	return broker.Request{}
}

func (s *serving) approve(id string) {
	s.t.Helper()
	_, err := s.as(boss).Approve(s.t.Context(), id, brokerhttp.ApproveBody{})
	require.NoError(s.t, err)
}

func (s *serving) deny(id, reason string) {
	s.t.Helper()
	_, err := s.as(boss).Deny(s.t.Context(), id, brokerhttp.DenyBody{Reason: reason})
	require.NoError(s.t, err)
}

// result is what a call says, and whether it failed.
type result struct {
	text   string
	failed bool
}

func use(session *mcp.ClientSession, name string, args map[string]any) result {
	text, err := callTool(session, name, args)
	if err != nil {
		return result{err.Error(), true}
	}
	return result{text, false}
}

// later is use in the background.
func later(session *mcp.ClientSession, name string, args map[string]any) <-chan result {
	done := make(chan result, 1)
	go func() { done <- use(session, name, args) }()
	return done
}

// toolNames are the tools that a server lists whose names begin with a word.
func toolNames(t *testing.T, session *mcp.ClientSession, prefix string) (names []string) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range list.Tools {
		if strings.HasPrefix(tool.Name, prefix) {
			names = append(names, tool.Name)
		}
	}
	return names
}

// records is the whole audit.
func (s *serving) records() (list []broker.Record, err error) {
	err = s.as("").Audit(s.t.Context(), 0, false, func(r broker.Record) error {
		list = append(list, r)
		return nil
	})
	return list, err
}
