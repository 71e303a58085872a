//go:build linux

package brokerhttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// D17: who waits for the answer to a question goes on waiting through a restart
// of the broker, and can ask for it again by its id; nobody else can.
func TestAnswerOutlivesTheBroker(t *testing.T) {
	dir := private(t)
	s := serve(t, dir, Options{})
	s.hire("boss", "", "trusted")
	s.hire("kid", "boss", "")
	s.hire("other", "boss", "")
	kid := s.as("kid")
	asked, err := kid.Send(t.Context(), SendBody{To: "agent:boss:main", Verb: broker.VerbAsk, Content: "which one?"})
	require.NoError(t, err)
	id := asked.Message.ID
	type answer struct {
		m   broker.Message
		err error
	}
	got := make(chan answer, 1)
	go func() {
		m, err := kid.AwaitAnswer(t.Context(), id)
		got <- answer{m, err}
	}()
	require.Eventually(t, func() bool { return s.waits("kid") == 1 }, time.Minute, 5*time.Millisecond, "it waits")
	_, err = s.as("other").AwaitAnswer(t.Context(), id)
	require.ErrorContains(t, err, "There is no question")

	s.end()
	s = serve(t, dir, Options{})
	root := s.as("boss")
	box, err := root.Mailbox(t.Context(), true)
	require.NoError(t, err)
	require.Equal(t, id, box[0].ID)
	_, err = root.Send(t.Context(), SendBody{To: "agent:kid:main", Verb: broker.VerbAnswer, ReplyTo: id, Content: "the left one"})
	require.NoError(t, err)
	select {
	case a := <-got:
		require.NoError(t, a.err)
		require.Equal(t, "the left one", a.m.Content)
	case <-time.After(time.Minute):
		t.Fatal("no answer came")
	}
	again, err := s.as("kid").AwaitAnswer(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "the left one", again.Content, "as often as it is asked for")
	box, err = s.as("kid").Mailbox(t.Context(), false)
	require.NoError(t, err)
	require.Empty(t, box, "it was delivered")
}
