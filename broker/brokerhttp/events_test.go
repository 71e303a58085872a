//go:build linux

package brokerhttp

import (
	"bufio"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The stream says that it is there, and then when something has changed for
// whoever listens.
func TestEvents(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	s.hire("kid", "boss", "")
	c := s.as("boss")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/v1/events", nil)
	require.NoError(t, err)
	resp, err := c.http.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	lines := bufio.NewScanner(resp.Body)
	next := func() string {
		for lines.Scan() {
			if lines.Text() != "" && lines.Text() != "data: {}" {
				return lines.Text()
			}
		}
		t.Fatal(lines.Err())
		return ""
	}
	require.Equal(t, "event: here", next())
	_, err = s.as("kid").Ask(t.Context(), wantSrc)
	require.NoError(t, err)
	require.Equal(t, "event: change", next())
}
