package brokerhttp

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// A list of agents that is cut is asked for in parts, and begun anew where the
// agent after which it is to go on has gone meanwhile.
func TestAgentsInParts(t *testing.T) {
	rows := make([]broker.AgentStatus, 7)
	for i := range rows {
		rows[i].ID = string(rune('a' + i))
	}
	asked, gone := []string{}, "d"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after := r.URL.Query().Get("after")
		asked = append(asked, after)
		if after == gone {
			gone = "-"
			writeError(w, fault(broker.CodeNotFound, "gone"))
			return
		}
		rest, known := behind(rows, after)
		require.True(t, known)
		answer := List[broker.Agent]{More: len(rest) > 2}
		for _, row := range rest[:min(len(rest), 2)] {
			answer.Items = append(answer.Items, row.Agent)
		}
		writeJSON(w, http.StatusOK, answer)
	}))
	defer srv.Close()
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(strings.Repeat("x", 43)+"\n"), 0o600))
	c, err := NewClient(Endpoint{URL: srv.URL, TokenFile: token})
	require.NoError(t, err)
	defer c.Close()
	list, err := c.Agents(t.Context())
	require.NoError(t, err)
	ids := ""
	for _, a := range list {
		ids += a.ID
	}
	require.Equal(t, "abcdefg", ids)
	require.Equal(t, []string{"", "b", "d", "", "b", "d", "f"}, asked)
	_, known := behind(rows, "nobody")
	require.False(t, known)
}
