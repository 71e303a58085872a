package rows

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHub: who is quick hears every topic in order; who is slow hears of the
// last place on that it missed some, and then every topic again.
func TestHub(t *testing.T) {
	var h Hub
	require.False(t, h.Listening())
	quick, slow := h.Listen(t.Context()), h.Listen(t.Context())
	require.True(t, h.Listening())
	for i := range 3 * backlog {
		topic := fmt.Sprint(i)
		h.Tell(topic)
		require.Equal(t, topic, <-quick)
	}
	require.Len(t, slow, backlog)
	for i := range backlog - 1 {
		require.Equal(t, fmt.Sprint(i), <-slow)
	}
	require.Equal(t, Any, <-slow, "all the others were told before this is read")
	h.Tell("more")
	require.Equal(t, "more", <-slow)

	// In the middle of its backlog, too, the last that it finds is Any.
	for range backlog {
		h.Tell("many")
	}
	<-slow
	h.Tell("dropped or any")
	var last string
	for len(slow) > 0 {
		last = <-slow
	}
	require.Equal(t, Any, last)
}

func TestHubEnds(t *testing.T) {
	var h Hub
	ctx, cancel := context.WithCancel(t.Context())
	one, two := h.Listen(ctx), h.Listen(t.Context())
	cancel()
	_, open := <-one
	require.False(t, open)
	h.Tell("a")
	require.Equal(t, "a", <-two)
	h.Close()
	_, open = <-two
	require.False(t, open)
	_, open = <-h.Listen(t.Context())
	require.False(t, open, "after the end")
	h.Tell("b")
	require.False(t, h.Listening())
}
