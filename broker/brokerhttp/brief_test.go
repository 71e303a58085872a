//go:build linux

package brokerhttp

import (
	"context"
	stdjson "encoding/json"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// What agents wrote cannot make a list larger than a client reads: the oldest
// are in it all the same.
func TestListsAreBounded(t *testing.T) {
	evil := strings.Repeat("\x01", 4096)
	rows := make([]broker.Request, 2000)
	for i := range rows {
		rows[i] = broker.Request{ID: "r", Input: strings.Repeat(`"`, 256<<10), Resource: evil, Tool: evil}
	}
	reports := make([]broker.AgentStatus, 5000)
	tools := strings.Split(strings.Repeat("\x01,", 1000), ",")
	for i := range reports {
		reports[i] = broker.AgentStatus{Agent: broker.Agent{ID: "a", Task: strings.Repeat(evil, 16), Tools: tools, Model: evil}}
	}
	for _, list := range []any{briefRequests(rows), briefAgents(reports)} {
		data, err := stdjson.Marshal(list)
		require.NoError(t, err)
		require.Less(t, len(data), maxAnswer)
		require.Greater(t, len(data), maxAnswer/4, "what fits is in it")
	}
	// What is usual is whole.
	usual := []broker.AgentStatus{{Agent: broker.Agent{Task: "a task", Tools: []string{"a", "b"}}}}
	require.Equal(t, "a task", briefAgents(usual)[0].Task)
	require.Equal(t, []string{"a", "b"}, briefAgents(usual)[0].Tools)
	require.Equal(t, `{"path":"a"}`, briefRequests([]broker.Request{{Input: `{"path":"a"}`}})[0].Input)
}

// A list has a long input in brief, the request by itself has it whole.
func TestListHasInputsInBrief(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("worker", "", "")
	input := `{"path":"src/a","content":"` + strings.Repeat("x", 10_000) + `"}`
	r, err := s.as("worker").Ask(t.Context(), DecideBody{Action: "fs.write", Resource: "src/a", Input: input})
	require.NoError(t, err)
	list, err := s.as("").Requests(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Less(t, len(list[0].Input), 200)
	require.True(t, stdjson.Valid([]byte(list[0].Input)))
	var one broker.Request
	_, body := s.raw(s.as(""), "GET", "/v1/requests/"+r.ID, "", nil)
	require.NoError(t, stdjson.Unmarshal([]byte(body), &one))
	require.Equal(t, input, one.Input)
}

// An agent whose command has ended keeps no socket: whoever hires one after the
// other would use up the broker's descriptors.
func TestSocketGoesWithItsCommand(t *testing.T) {
	var launched Launch
	s := serve(t, private(t), Options{Launch: func(_ context.Context, l Launch) error { launched = l; return nil }})
	h, err := s.as("").Hire(t.Context(), HireBody{ID: "worker", Cwd: t.TempDir(), Task: "a task", Command: []string{"true"}})
	require.NoError(t, err)
	c, err := net.Dial("unix", h.Socket)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, s.b.Exited(t.Context(), "worker", broker.Exit{}))
	launched.Ended()
	_, err = os.Lstat(h.Socket)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Empty(t, s.srv.agents)
}

// A list that was cut says so.
func TestCutListSaysSo(t *testing.T) {
	rows := make([]broker.Request, 2000)
	for i := range rows {
		rows[i] = broker.Request{Resource: strings.Repeat("\x01", 4096)}
	}
	answer, err := briefList(rows, nil)
	require.NoError(t, err)
	require.True(t, answer.(List[broker.Request]).More)
	answer, err = briefList(rows[:3], nil)
	require.NoError(t, err)
	require.False(t, answer.(List[broker.Request]).More)
	require.Len(t, answer.(List[broker.Request]).Items, 3)
}
