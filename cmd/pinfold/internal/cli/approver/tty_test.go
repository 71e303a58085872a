package approver

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/launcher"
)

// shownTo is a terminal at which nobody types.
type shownTo struct{ strings.Builder }

func (*shownTo) Close() error { return nil }

func (*shownTo) Take(context.Context) (func(), error) { return func() {}, nil }

func (*shownTo) ReadKeys(context.Context) ([]byte, error) { return nil, io.EOF }

// V11: before the question the terminal forgets what the command has told it,
// which could have hidden the question behind one of the command's own.
func TestQuestionIsShownPlainly(t *testing.T) {
	tty := &shownTo{}
	nothing := func(context.Context, broker.Identity, string) (brokerhttp.Proposal, error) {
		return brokerhttp.Proposal{}, nil
	}
	v := (&ttyAnswers{tty, launcher.NewPause(), nothing}).answer(t.Context(), broker.Request{AgentID: "run", Action: "fs.write", Resource: "src/a"})
	require.Zero(t, v)
	before, _, asks := strings.Cut(tty.String(), "pinfold: run asks for fs.write 'src/a'")
	require.True(t, asks)
	require.Equal(t, "\x18", before[:1], "the sequence that the command has begun ends first")
	for _, reset := range []string{"\x1b\\", "\x1b[m", "\x1b[r", "\x1b(B", "\x1b[4i"} {
		require.Contains(t, before, reset)
	}
}
