package broker_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// M10: who asks is the connection's, whatever the request says.
func TestNamingAnother(t *testing.T) {
	w := newWorld(t)
	_, worker := w.pair()
	call := write("docs/a")
	call.Principal = "boss"
	d := w.Gate(worker).Check(t.Context(), call)
	require.True(t, d.Allowed())
	require.Equal(t, "worker", d.Principal)
	call = write("etc")
	call.Principal = "boss"
	require.False(t, w.Gate(worker).Check(t.Context(), call).Allowed(), "root might")
	for _, who := range []broker.Identity{{}, broker.AgentIdentity(""), broker.AgentIdentity("operator"), broker.AgentIdentity("nobody")} {
		require.Equal(t, permission.CodeNoIdentity, w.Gate(who).Check(t.Context(), access.Request{Action: access.FSRead, Resource: "a"}).Code)
		_, err := w.Send(t.Context(), who, broker.Outgoing{To: "agent:boss:main"})
		refused(t, permission.CodeNoIdentity, err)
		_, _, err = w.Hire(t.Context(), who, broker.HireSpec{ID: "x", Policy: policy(t, workerDoc), Cwd: "/project"})
		refused(t, permission.CodeNoIdentity, err)
		_, err = w.Receive(t.Context(), who, false)
		refused(t, permission.CodeNoIdentity, err)
		_, err = w.Status(t.Context(), who)
		refused(t, permission.CodeNoIdentity, err)
	}
}

// Nobody reads or answers what is not theirs: not their own request, not a
// descendant's further down, not a stranger's, and no id that they guess.
func TestRequestsOfOthers(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	below := must2(w.Hire(t.Context(), operator, broker.HireSpec{ID: "below", ParentID: "worker", Policy: policy(t, workerDoc), OnExcess: permission.Clamp}))
	r := w.ask(broker.AgentIdentity(below.ID), "src/a")
	_, err := w.Approve(t.Context(), manager, r.ID, broker.Answer{})
	refused(t, broker.CodeNotManager, err) // D19: the direct parent alone
	_, err = w.Approve(t.Context(), worker, r.ID, broker.Answer{})
	refused(t, "approver_lacks_permission", err) // D21
	own := w.ask(worker, "src/a")
	stranger := w.hire(operator, "stranger", managerDoc)
	for _, id := range []string{own.ID, "00000000-0000-7000-8000-000000000000", "x\x1b[2J", "\x00", "\xff", ""} {
		for _, err := range []error{
			second(w.Request(t.Context(), stranger, id)), second(w.Wait(t.Context(), stranger, id)),
		} {
			require.NotContains(t, refused(t, broker.CodeNotFound, err), "\x1b")
		}
	}
	_, err = w.Agent(t.Context(), stranger, "worker")
	require.Equal(t, "Session not found: worker", refused(t, broker.CodeNotFound, err))
}

func must2[T, U any](v T, _ U, err error) T { return must(v, err) }

func second[T any](_ T, err error) error { return err }

// What an agent writes into a request or a message cannot reach a terminal as
// anything but text, nor grow beyond its bound (D6).
func TestTextOfAgents(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	call := write("src/\x1b]0;title\a\n\u202ea")
	call.Input = []byte(`{"content": "\u001b[2J` + strings.Repeat("long ", 10_000) + `"}`)
	call.Reason = "\x1b[8m" + strings.Repeat("because ", 1000)
	call.Tool = "tool\r\n\nRequest ID: forged"
	call.MayBlock = false
	doc := strings.Replace(managerDoc, "extends", "tools: {\"tool\\r\\n\\nRequest ID: forged\": {requires_confirmation: true}}\nextends", 1)
	asker := w.hire(operator, "asker", doc)
	call.Action, call.Resource = access.ToolUse, call.Tool
	r, err := w.Ask(t.Context(), asker, call)
	require.NoError(t, err)
	r2, err := w.Ask(t.Context(), worker, access.Request{Action: access.FSWrite, Resource: "src/\x1b]0;title\a\n\u202ea"})
	require.NoError(t, err)
	box := append(must(w.Receive(t.Context(), operator, false)), must(w.Receive(t.Context(), manager, false))...)
	require.Len(t, box, 2)
	for _, m := range box {
		require.Less(t, len(m.Content), 20_000)
		require.Len(t, strings.Split(m.Content, "\n"), 8, "an agent's text makes no line of its own")
		for _, c := range m.Content {
			require.True(t, c == '\n' || unicode.IsPrint(c), "%q", c)
		}
	}
	require.Less(t, len(r.Reason), 5000)
	require.NotContains(t, r.Reason, "\x1b")
	require.Contains(t, box[1].Content, r2.ID)

	call.Input = bytes.Repeat([]byte("x"), 1<<20)
	_, err = w.Ask(t.Context(), asker, call)
	refused(t, broker.CodeTooLarge, err)
	_, err = w.Ask(t.Context(), worker, access.Request{Action: access.FSWrite, Resource: "src/\xff"})
	refused(t, broker.CodeInvalid, err)
	_, err = w.Send(t.Context(), worker, broker.Outgoing{To: "agent:boss:main", Content: strings.Repeat("x", 1<<20)})
	refused(t, broker.CodeTooLarge, err)
	_, err = w.Deny(t.Context(), operator, r.ID, "no\x1b[2J\nreally")
	require.NoError(t, err)
	require.Equal(t, `no\x1b[2J\nreally`, must(w.Request(t.Context(), asker, r.ID)).Denial())
}

// A flood of requests, messages and attempts ends at its bound, and is on
// record up to there; who is flooded still hears others. The clock stands still,
// so that no bound is given back meanwhile.
func TestFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSQLite(t)
		manager, worker := w.pair()
		other := w.hire(manager, "other", workerDoc)
		asked := flood(101, func(i int) error {
			_, err := w.Ask(t.Context(), worker, write(fmt.Sprintf("src/%d", i)))
			return err
		})
		require.Equal(t, map[access.Code]int{"": 100, broker.CodeTooMany: 1}, asked)
		w.ask(other, "src/a")

		// The 100 requests have told the manager as well: its mailbox takes 200
		// messages of one agent.
		sent := flood(101, func(int) error {
			_, err := w.Send(t.Context(), worker, broker.Outgoing{To: "agent:boss:main", Content: "x"})
			return err
		})
		require.Equal(t, map[access.Code]int{"": 100, broker.CodeTooMany: 1}, sent)
		require.Contains(t, w.send(other, "agent:boss:main"), "✓")

		nonsense := flood(500, func(int) error {
			_, err := w.Send(t.Context(), worker, broker.Outgoing{To: "nonsense"})
			return err
		})
		require.InDelta(t, 600-202, nonsense[permission.CodeInvalidTarget], 10, "600 attempts a minute")
		require.Equal(t, 500, nonsense[permission.CodeInvalidTarget]+nonsense[broker.CodeRateLimited])
		before := must(w.Head(t.Context(), operator))
		beyond := flood(100, func(int) error {
			_, err := w.Send(t.Context(), worker, broker.Outgoing{To: "nonsense"})
			return err
		})
		require.Greater(t, beyond[broker.CodeRateLimited], 90)
		require.Less(t, must(w.Head(t.Context(), operator)).Seq, before.Seq+10, "what goes beyond is not recorded")
		require.Contains(t, w.send(other, "agent:boss:main"), "✓")
		must(w.Verify(t.Context(), operator, broker.Head{}))
	})
}

// flood does something n times at once, and counts the codes of the refusals;
// "" is success.
func flood(n int, do func(i int) error) map[access.Code]int {
	var mu sync.Mutex
	var all sync.WaitGroup
	codes := map[access.Code]int{}
	for i := range n {
		all.Go(func() {
			err := do(i)
			var refusal *broker.Error
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				codes[""]++
			case errors.As(err, &refusal):
				codes[refusal.Code]++
			default:
				codes[access.Code(err.Error())]++
			}
		})
	}
	all.Wait()
	return codes
}
