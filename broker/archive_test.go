package broker_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/internal/rows"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
)

// counting is a store that counts the agents that views read.
type counting struct {
	broker.Store
	read atomic.Int64
}

type countingTx struct {
	broker.ReadTx
	read *atomic.Int64
}

func (s *counting) View(ctx context.Context, fn func(broker.ReadTx) error) error {
	return s.Store.View(ctx, func(tx broker.ReadTx) error { return fn(countingTx{tx, &s.read}) })
}

func (t countingTx) Agents(f broker.AgentFilter) ([]broker.Agent, error) {
	list, err := t.ReadTx.Agents(f)
	t.read.Add(int64(len(list)))
	return list, err
}

// What has ended long ago stays on record, and costs nothing: neither a broker that starts,
// nor a status, nor a manager who hires, reads it. Else one who hires and ends all day holds
// up everybody.
func TestArchivedAgentsCostNothing(t *testing.T) {
	const many = 5000
	store, err := sqlitestore.Open(rows.Looking(t.Context()), filepath.Join(t.TempDir(), "broker.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	at := time.Now().UTC().Truncate(time.Microsecond)
	require.NoError(t, store.Update(t.Context(), func(tx broker.Tx) error {
		for i := range many {
			a := broker.Agent{
				ID: fmt.Sprintf("old%05d", i), Session: fmt.Sprintf("agent:old%05d:main", i), Cwd: "/project", State: broker.Exited,
				CreatedAt: at, EndedAt: at.Add(time.Duration(i) * time.Second), Archived: true,
			}
			if i%2 == 0 {
				a.State = broker.Fired
			}
			if err := tx.InsertAgent(a); err != nil {
				return err
			}
		}
		return nil
	}))
	s := &counting{Store: store}
	b, err := broker.New(t.Context(), broker.Options{Store: s})
	require.NoError(t, err)
	defer b.Close()
	_, _, err = b.Hire(t.Context(), operator, broker.HireSpec{ID: "boss", Policy: policy(t, managerDoc), Cwd: "/project"})
	require.NoError(t, err)
	require.NoError(t, b.Started(t.Context(), "boss", "a process", ""))

	running := must(b.Running(t.Context()))
	require.Len(t, running, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = b.AwaitResume(ctx, nil)
	require.Error(t, err, "nobody is to be started again")
	st := must(b.Status(t.Context(), operator))
	require.Len(t, st.Agents, 101, "those that are there, and the last that ended")
	require.Equal(t, "boss", st.Agents[0].ID)
	require.Equal(t, fmt.Sprintf("old%05d", many-1), st.Agents[100].ID)
	require.Less(t, s.read.Load(), int64(300), "rows that were read")
	require.Equal(t, broker.Exited, must(b.Agent(t.Context(), operator, "old00001")).State, "it is on record")
}

// An agent that has ended is archived once nobody beneath it is there, and not while it can
// be started again. Started again it is there again, with those above it.
func TestArchive(t *testing.T) {
	w := newWorld(t)
	boss := w.hire(operator, "boss", managerDoc)
	lead := w.hire(boss, "lead", managerDoc)
	w.hire(lead, "kid", workerDoc)
	_, _, err := w.Hire(t.Context(), boss, broker.HireSpec{ID: "again", Policy: policy(t, workerDoc), Resume: []string{"true"}})
	require.NoError(t, err)
	archived := func() (ids []string) {
		require.NoError(t, w.store.View(t.Context(), func(tx broker.ReadTx) error {
			list, err := tx.Agents(broker.AgentFilter{})
			for _, a := range list {
				if a.Archived {
					ids = append(ids, a.ID)
				}
			}
			return err
		}))
		return ids
	}
	for _, id := range []string{"lead", "again"} {
		require.NoError(t, w.Exited(t.Context(), id, broker.Exit{}))
	}
	require.Empty(t, archived(), "kid is there beneath lead, and the other can be started again")
	require.NoError(t, w.Exited(t.Context(), "kid", broker.Exit{}))
	require.Equal(t, []string{"kid", "lead"}, archived())
	require.Len(t, must(w.Status(t.Context(), operator)).Agents, 4, "the last are shown all the same")
	require.NoError(t, w.Started(t.Context(), "kid", "a process", ""))
	require.Empty(t, archived())
	require.NoError(t, w.Exited(t.Context(), "kid", broker.Exit{}))
	_, err = w.Fire(t.Context(), operator, "boss")
	require.NoError(t, err)
	require.Equal(t, []string{"again", "boss", "kid", "lead"}, archived())
	fired := must(w.Status(t.Context(), operator)).Agents
	require.Len(t, fired, 4, "whoever was fired is named")
	for i, id := range []string{"boss", "again", "lead", "kid"} {
		require.Equal(t, id, fired[i].ID)
	}
	require.Equal(t, broker.Fired, fired[0].State)
}
