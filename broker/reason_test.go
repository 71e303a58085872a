package broker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// What was refused first, and asked for by that, is explained afterwards: the
// reason is added to the one request, and its manager hears of it. What is seen of
// later calls takes the place of no reason.
func TestReasonAfterTheRefusal(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	seen := write("src/a.go")
	seen.Reason, seen.Observed = "open by 'sh', process 12", true
	first := must(w.Ask(w.Context(), worker, seen))
	wake, stop := w.Watch(manager)
	defer stop()
	said := write("src/a.go")
	said.Reason = "the version stands there"
	second := must(w.Ask(w.Context(), worker, said))
	require.Equal(t, first.ID, second.ID)
	require.Equal(t, first.Digest, second.Digest, "an answer is bound to the same")
	const both = "the version stands there (before: open by 'sh', process 12)"
	require.Equal(t, both, second.Reason)
	soon(t, wake)

	seen.Reason = "open by 'sh', process 13"
	require.Equal(t, both, must(w.Ask(w.Context(), worker, seen)).Reason)
	require.Equal(t, both, must(w.Ask(w.Context(), worker, said)).Reason, "said twice it is there once")
	rows := must(w.Requests(w.Context(), manager))
	require.Len(t, rows, 1)
	require.Equal(t, both, rows[0].Reason)

	// However often it is explained, it stays within its bound.
	for i := range 20 {
		said.Reason = strings.Repeat("because ", 100) + string(rune('a'+i)) + "\x1b[2J"
		require.LessOrEqual(t, len(must(w.Ask(w.Context(), worker, said)).Reason), 2000)
	}
	require.NotContains(t, must(w.Requests(w.Context(), manager))[0].Reason, "\x1b")

	// What was answered is not changed.
	answered := must(w.Approve(w.Context(), manager, first.ID, broker.Answer{}))
	said.Reason = "and one more thing"
	require.Equal(t, answered.Reason, must(w.Ask(w.Context(), worker, said)).Reason)
}

// An agent that asks why is told what its manager said, until that is over.
func TestDenied(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	gate := w.Gate(worker)
	denied := func() string { return must(gate.Denied(w.Context(), write("src/a.go"))) }
	require.Empty(t, denied())
	first := w.ask(worker, "src/a.go")
	require.Empty(t, denied(), "nobody has answered")
	must(w.Deny(w.Context(), manager, first.ID, "not in this release"))
	require.Equal(t, "not in this release", denied())
	second := w.ask(worker, "src/a.go")
	require.Equal(t, "not in this release", denied(), "asked again, and not answered yet")
	must(w.Approve(w.Context(), manager, second.ID, broker.Answer{Scope: broker.Path}))
	require.Empty(t, denied())
	require.Empty(t, must(gate.Denied(w.Context(), write("src/b.go"))))
}
