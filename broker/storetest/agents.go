package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// agents: rows come back exactly, every field.
func agents(t *testing.T, open Open) {
	s := opened(t, open)
	full := broker.Agent{
		ID: "worker", ParentID: "root", Session: "agent:worker:main", Cwd: "/src", Model: "m", Tools: []string{"a", "b"},
		Task: "do \"it\"\n", PolicyHash: "hash", Route: "chat", Sessions: []broker.AgentSession{{Key: "agent:worker:x", Route: "y"}}, Resume: []string{"sh", "-c", "x y"}, Launch: "how",
		CrossSend: &permission.CrossSend{Mode: "allowlist", Allowlist: []string{"agent:a:*"}, Denylist: []string{}},
		State:     broker.Working, Turn: 3, Interrupts: 4, Process: "host 17", Cause: []string{"x"}, TokenHash: "token",
		CreatedAt: now, Until: now.Add(time.Minute), EndedAt: now.Add(time.Hour), Exit: broker.Exit{Code: 3, Signal: "killed", Output: "last"},
	}
	empty := agent("empty")
	lists := agent("lists")
	lists.Tools, lists.Resume, lists.Cause = []string{}, []string{}, []string{}
	lists.CrossSend = &permission.CrossSend{}
	update(t, s, func(tx broker.Tx) {
		for _, a := range []broker.Agent{full, empty, lists} {
			require.NoError(t, tx.InsertAgent(a))
			got, err := tx.Agent(a.ID)
			require.NoError(t, err)
			require.Equal(t, a, got)
		}
	})

	full.Session, full.State, full.Turn, full.Tools, full.CrossSend, full.Sessions = "agent:worker:other", broker.Exited, 9, nil, nil, nil
	full.TokenHash, full.Exit.Code, full.Launch = "another", -1, "otherwise"
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.UpdateAgent(full, broker.Idle, broker.Working))
		require.ErrorIs(t, tx.UpdateAgent(full, broker.Idle, broker.Working), broker.ErrConflict)
		require.ErrorIs(t, tx.UpdateAgent(agent("nobody"), broker.Working), broker.ErrNotFound)
		// What never changes.
		moved := empty
		moved.ParentID, moved.CreatedAt = "other", now.Add(time.Hour)
		require.NoError(t, tx.UpdateAgent(moved, broker.Working))
	})
	view(t, s, func(tx broker.ReadTx) {
		all, err := tx.Agents(broker.AgentFilter{})
		require.NoError(t, err)
		require.Equal(t, []broker.Agent{empty, lists, full}, all, "in order of id")
		for due, n := range map[time.Time]int{now: 0, now.Add(time.Minute): 1, now.Add(time.Hour): 1} {
			over, err := tx.Agents(broker.AgentFilter{Due: due})
			require.NoError(t, err)
			require.Len(t, over, n)
		}
		_, err = tx.Agent("nobody")
		require.ErrorIs(t, err, broker.ErrNotFound)
	})
}

// agentsDeleted: what a row held can be had by another one afterwards.
func agentsDeleted(t *testing.T, open Open) {
	s := opened(t, open)
	a, other := agent("a"), agent("b")
	a.TokenHash = "secret"
	again := a
	again.ParentID, again.Task = "b", "another"
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.InsertAgent(a))
		require.NoError(t, tx.InsertAgent(other))
		require.ErrorIs(t, tx.InsertAgent(again), broker.ErrExists)
		require.NoError(t, tx.DeleteAgent("a"))
		require.ErrorIs(t, tx.DeleteAgent("a"), broker.ErrNotFound)
		require.NoError(t, tx.InsertAgent(again))
	})
	view(t, s, func(tx broker.ReadTx) {
		all, err := tx.Agents(broker.AgentFilter{})
		require.NoError(t, err)
		require.Equal(t, []broker.Agent{again, other}, all)
	})

	// Nor is it found where an update before has read it, or this one.
	found := func(tx broker.Tx, want error) {
		_, err := tx.Agent("a")
		require.ErrorIs(t, err, want)
	}
	update(t, s, func(tx broker.Tx) { found(tx, nil) })
	update(t, s, func(tx broker.Tx) {
		found(tx, nil)
		require.NoError(t, tx.DeleteAgent("a"))
		found(tx, broker.ErrNotFound)
	})
	update(t, s, func(tx broker.Tx) {
		found(tx, broker.ErrNotFound)
		require.NoError(t, tx.InsertAgent(a))
		found(tx, nil)
	})
}

// agentsUnique: id, session key and token are held by one agent.
func agentsUnique(t *testing.T, open Open) {
	s := opened(t, open)
	a, b := agent("a"), agent("b")
	a.TokenHash = "secret"
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.InsertAgent(a))
		for _, change := range []func(*broker.Agent){
			func(x *broker.Agent) { x.ID = "a" },
			func(x *broker.Agent) { x.Session = a.Session },
			func(x *broker.Agent) { x.TokenHash = "secret" },
		} {
			x := b
			change(&x)
			require.ErrorIs(t, tx.InsertAgent(x), broker.ErrExists)
		}
		require.NoError(t, tx.InsertAgent(b), "nothing taken, no token like others without one")
		require.NoError(t, tx.InsertAgent(agent("c")))

		x := b
		x.TokenHash = "secret"
		require.ErrorIs(t, tx.UpdateAgent(x, broker.Working), broker.ErrExists)
		x.TokenHash = "other"
		require.NoError(t, tx.UpdateAgent(x, broker.Working))
		require.NoError(t, tx.UpdateAgent(x, broker.Working), "its own token is not taken")
	})
}

func agentsFilter(t *testing.T, open Open) {
	s := opened(t, open)
	states := []broker.State{broker.Working, broker.Idle, broker.Exited, broker.Fired}
	// Bytes order them, not a language: B before a, - before 0.
	ids := []string{"B-1", "B0", "a", "b", "é"}
	update(t, s, func(tx broker.Tx) {
		for i, id := range ids {
			a := agent(id)
			a.State = states[i%len(states)]
			if i > 0 {
				a.ParentID = ids[0]
				a.TokenHash = "token of " + id
			}
			switch id {
			case "a": // exited
				a.Archived, a.EndedAt, a.Resume = true, now, []string{"again"}
			case "b": // fired
				a.Archived, a.EndedAt, a.Process = true, now.Add(time.Second), "a process"
			}
			require.NoError(t, tx.InsertAgent(a))
		}
	})
	none, first := "", ids[0]
	for _, tt := range []struct {
		f    broker.AgentFilter
		want []string
	}{
		{broker.AgentFilter{}, ids},
		{broker.AgentFilter{ParentID: &none}, ids[:1]},
		{broker.AgentFilter{ParentID: &first}, ids[1:]},
		{broker.AgentFilter{States: []broker.State{broker.Idle, broker.Fired}}, []string{"B0", "b"}},
		{broker.AgentFilter{ParentID: &first, States: []broker.State{broker.Working}}, []string{"é"}},
		{broker.AgentFilter{Session: "agent:a:main"}, []string{"a"}},
		{broker.AgentFilter{TokenHash: "token of b"}, []string{"b"}},
		{broker.AgentFilter{After: "B0"}, ids[2:]},
		{broker.AgentFilter{After: "B0", Limit: 2}, ids[2:4]},
		{broker.AgentFilter{Session: "agent:a"}, nil},
		{broker.AgentFilter{Present: true}, []string{"B-1", "B0", "é"}},
		{broker.AgentFilter{LastArchived: 5}, []string{"a", "b"}},
		{broker.AgentFilter{LastArchived: 1}, []string{"b"}},
		{broker.AgentFilter{ParentID: &first, LastArchived: 1, States: []broker.State{broker.Exited}}, []string{"a"}},
		{broker.AgentFilter{Process: true}, []string{"b"}},
		{broker.AgentFilter{Resumable: true}, []string{"a"}},
	} {
		view(t, s, func(tx broker.ReadTx) {
			all, err := tx.Agents(tt.f)
			require.NoError(t, err)
			var got []string
			for _, a := range all {
				got = append(got, a.ID)
			}
			require.Equal(t, tt.want, got, "%+v", tt.f)
		})
	}
}
