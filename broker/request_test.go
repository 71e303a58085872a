package broker_test

import (
	"encoding/json"
	"io/fs"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// D3: a request is a durable row with these fields, found by its agent and by
// its status.
func TestRequestRow(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	r := w.ask(worker, "src/a")
	denied, err := w.Deny(t.Context(), manager, r.ID, "not now")
	require.NoError(t, err)
	w.restart()
	kept := must(w.Request(t.Context(), worker, r.ID))
	require.Equal(t, denied, kept)
	data, err := json.Marshal(kept)
	require.NoError(t, err)
	var row map[string]any
	require.NoError(t, json.Unmarshal(data, &row))
	for field, want := range map[string]any{
		"id": r.ID, "agent_id": "worker", "tool": "write_file", "input": `{"path":"src/a"}`,
		"status": "denied", "deny_reason": "not now", "resolver": "boss",
	} {
		require.Equal(t, want, row[field], field)
	}
	require.False(t, kept.CreatedAt.IsZero())
	require.False(t, kept.ResolvedAt.Before(kept.CreatedAt))
	require.True(t, json.Valid([]byte(kept.Input)))

	other := w.ask(worker, "src/b")
	require.NoError(t, w.store.View(t.Context(), func(tx broker.ReadTx) error {
		for want, f := range map[string]broker.RequestFilter{
			r.ID: {Statuses: []broker.Status{broker.Denied}}, other.ID: {AgentID: "worker", Statuses: []broker.Status{broker.Pending}},
		} {
			found, err := tx.Requests(f)
			require.NoError(t, err)
			require.Equal(t, []string{want}, ids(found))
		}
		return nil
	}))
}

// W8: leave for a place outside the project that nobody acts on is refused when it is
// asked for, and not once it was approved: no view shows it, no skill opens it. A tool
// that opens it by itself may ask, and what was approved for it is allowed.
func TestOutsideIsAskedForByWhoActs(t *testing.T) {
	w := newWorld(t)
	worker := w.hire(operator, "worker", "version: 1\nname: w\nextends: trusted\n") // who else would have it to give?
	for _, q := range []access.Request{
		{Action: access.FSRead, Resource: "/data/set"},
		{Action: access.FSList, Resource: "../beside"},
		{Action: access.FSRead, Resource: "in", Also: []access.Access{{Action: access.FSWrite, Resource: "/data/out"}}},
	} {
		_, err := w.Ask(t.Context(), worker, q)
		require.ErrorContains(t, err, "is outside the allowed sandbox\n")
		require.ErrorContains(t, err, "named when it is started, by --ro")
		require.ErrorIs(t, err, fs.ErrPermission)
		require.Equal(t, pathresolver.RuleOutsideRoot, w.Gate(worker).Check(t.Context(), q).Code)
		require.Empty(t, must(w.Requests(t.Context(), operator)))

		q.Tool = "Read"
		r := must(w.Ask(t.Context(), worker, q))
		require.Equal(t, broker.Pending, r.Status)
		must(w.Approve(t.Context(), operator, r.ID, broker.Answer{}))
		require.True(t, w.Gate(worker).Decide(t.Context(), q).Allowed())
	}
}

// D3: pending -> approved | denied | cancelled | expired; approved -> consumed |
// active -> revoked | expired; and no other way. Time does not pass by itself.
func TestStatesOfARequest(t *testing.T) {
	ways := map[broker.Status]func(w *world, manager, worker broker.Identity, place string) broker.Request{
		broker.Pending: func(w *world, _, worker broker.Identity, place string) broker.Request { return w.ask(worker, place) },
		broker.Approved: func(w *world, manager, worker broker.Identity, place string) broker.Request {
			return must(w.Approve(w.Context(), manager, w.ask(worker, place).ID, broker.Answer{}))
		},
		broker.Consumed: func(w *world, manager, worker broker.Identity, place string) broker.Request {
			r := must(w.Approve(w.Context(), manager, w.ask(worker, place).ID, broker.Answer{}))
			require.True(w, w.Gate(worker).Check(w.Context(), write(place)).Allowed())
			return must(w.Request(w.Context(), worker, r.ID))
		},
		broker.Active: func(w *world, manager, worker broker.Identity, place string) broker.Request {
			return must(w.Approve(w.Context(), manager, w.ask(worker, place).ID, broker.Answer{Scope: broker.Path}))
		},
		broker.Revoked: func(w *world, manager, worker broker.Identity, place string) broker.Request {
			r := must(w.Approve(w.Context(), manager, w.ask(worker, place).ID, broker.Answer{Scope: broker.Path}))
			return must(w.Revoke(w.Context(), manager, r.ID))
		},
		broker.Denied: func(w *world, manager, worker broker.Identity, place string) broker.Request {
			return must(w.Deny(w.Context(), manager, w.ask(worker, place).ID, ""))
		},
		broker.Cancelled: func(w *world, manager, worker broker.Identity, place string) broker.Request {
			r := w.ask(worker, place)
			must(w.Interrupt(w.Context(), manager, "worker"))
			return must(w.Request(w.Context(), worker, r.ID))
		},
		broker.Expired: func(w *world, manager, worker broker.Identity, place string) broker.Request {
			r := must(w.Approve(w.Context(), manager, w.ask(worker, place).ID, broker.Answer{Scope: broker.Until, Until: time.Now().Add(time.Minute)}))
			time.Sleep(2 * time.Minute) // of the test's own clock
			must(w.Grants(w.Context(), manager))
			return must(w.Request(w.Context(), worker, r.ID))
		},
	}
	// What a manager may still do with a row in this state.
	open := map[string][]broker.Status{
		"approve": {broker.Pending, broker.Approved, broker.Consumed, broker.Active}, // the same answer again is none
		"deny":    {broker.Pending, broker.Denied},
		"revoke":  {broker.Approved, broker.Active, broker.Revoked},
	}
	for status, make := range ways {
		for verb, do := range map[string]func(*world, broker.Identity, string) (broker.Request, error){
			"approve": func(w *world, who broker.Identity, id string) (broker.Request, error) {
				return w.Approve(w.Context(), who, id, broker.Answer{})
			},
			"deny": func(w *world, who broker.Identity, id string) (broker.Request, error) {
				return w.Deny(w.Context(), who, id, "")
			},
			"revoke": func(w *world, who broker.Identity, id string) (broker.Request, error) {
				return w.Revoke(w.Context(), who, id)
			},
		} {
			t.Run(string(status)+"/"+verb, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := onSQLite(t)
					manager, worker := w.pair()
					r := make(w, manager, worker, "src/a")
					require.Equal(t, status, r.Status)
					_, err := do(w, manager, r.ID)
					if slices.Contains(open[verb], status) {
						require.NoError(t, err)
						return
					}
					refused(t, broker.CodeResolved, err)
					require.Equal(t, status, must(w.Request(t.Context(), worker, r.ID)).Status, "it stays what it is")
				})
			})
		}
	}
}

// An id may be cut as long as it means one request of those that the caller may look at.
// One that has ended still counts: what began its id never comes to mean another. Nobody
// finds a stranger's.
func TestFindRequests(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	first := w.ask(worker, "src/a")
	must(w.Deny(t.Context(), manager, first.ID, ""))
	second := w.ask(worker, "src/b")
	for _, who := range []broker.Identity{manager, worker, broker.OperatorIdentity()} {
		require.Equal(t, []string{first.ID, second.ID}, ids(must(w.FindRequests(t.Context(), who, "0"))), who.String())
		require.Equal(t, []string{second.ID}, ids(must(w.FindRequests(t.Context(), who, second.ID[:35]))))
		for _, none := range []string{"", "f", second.ID[1:13], "\x00", second.ID + "0"} {
			require.Empty(t, must(w.FindRequests(t.Context(), who, none)), "%q", none)
		}
	}
	stranger := w.hire(broker.OperatorIdentity(), "stranger", managerDoc)
	require.Empty(t, must(w.FindRequests(t.Context(), stranger, "0")))
}

// D3: a request has the names of fields that other runtimes know beside its own.
func TestRequestAsJSON(t *testing.T) {
	for input, want := range map[string]string{`{"path": "a"}`: `{"path":"a"}`, "": `{}`, "no json": `"no json"`} {
		data, err := json.Marshal(broker.Request{ID: "r", AgentID: "worker", Tool: "write_file", Action: access.FSWrite, Input: input, Status: broker.Pending})
		require.NoError(t, err)
		var row struct {
			AgentID   string          `json:"agent_id"`
			SessionID string          `json:"session_id"`
			ToolName  string          `json:"tool_name"`
			ToolInput json.RawMessage `json:"tool_input"`
			Input     string          `json:"input"`
			Status    string          `json:"status"`
		}
		require.NoError(t, json.Unmarshal(data, &row))
		require.Equal(t, []string{"worker", "worker", "write_file", want, input, "pending"}, []string{row.AgentID, row.SessionID, row.ToolName, string(row.ToolInput), row.Input, row.Status})
		var back broker.Request
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, input, back.Input)
	}
	data, err := json.Marshal([]broker.Request{{Action: access.FSWrite}})
	require.NoError(t, err)
	require.Contains(t, string(data), `"tool_name":"fs.write"`, "of a process in a view")
}
