package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// answeredTogether: a grant answers all that its agent has pending, in one
// transaction, while others answer the same requests one by one, on two stores.
// Each is answered once, with one record, and a view sees all that came with
// the grant, or nothing of it. One that fails after it has answered them has
// answered none.
func answeredTogether(t *testing.T, open Open) {
	const rounds, each, resolvers = 8, 20, 4
	stores := []broker.Store{opened(t, open), opened(t, open)}
	heard, err := stores[1].Changes(t.Context())
	require.NoError(t, err)
	failed := errors.New("failed")
	for round := range rounds {
		agentID := id("worker %d", round)
		grant := request(id("%d grant", round), agentID)
		rid := func(n int) string { return id(id("%d", round)+" r%02d", n) }
		update(t, stores[0], func(tx broker.Tx) {
			require.NoError(t, tx.InsertRequest(grant))
			for n := range each {
				require.NoError(t, tx.InsertRequest(request(rid(n), agentID)))
			}
		})
		require.ErrorIs(t, stores[0].Update(t.Context(), func(tx broker.Tx) error {
			return errors.Join(grantAll(tx, grant), failed)
		}), failed)
		view(t, stores[1], func(tx broker.ReadTx) { require.Len(t, withStatus(t, tx, agentID, broker.Pending), each+1) })

		errs := together(resolvers+1, func(i int) error {
			if i == resolvers {
				return stores[0].Update(context.Background(), func(tx broker.Tx) error { return grantAll(tx, grant) })
			}
			for n := i; n < each; n += 2 { // two of them for each
				err := stores[1].Update(context.Background(), func(tx broker.Tx) error {
					return answerOne(tx, rid(n), agentID)
				})
				if err != nil && !errors.Is(err, broker.ErrConflict) {
					return err
				}
			}
			return nil
		})
		require.NoError(t, errors.Join(errs...))
		wait(t, heard, grant.ID)
		view(t, stores[1], func(tx broker.ReadTx) {
			require.Empty(t, withStatus(t, tx, agentID, broker.Pending))
			require.Len(t, withStatus(t, tx, agentID, broker.Active), 1)
			recorded := map[string][]string{}
			for _, r := range chain(t, tx) {
				recorded[r.Resource] = append(recorded[r.Resource], r.Action)
			}
			for n := range each {
				r, err := tx.Request(rid(n))
				require.NoError(t, err)
				require.Equal(t, []string{string(r.Status)}, recorded[r.ID], "one winner, on record")
			}
		})
	}
}

// grantAll makes grant active, and answers what else its agent has pending.
func grantAll(tx broker.Tx, grant broker.Request) error {
	grant.Status = broker.Active
	if err := tx.UpdateRequest(grant, broker.Pending); err != nil {
		return err
	}
	rows, err := tx.Requests(broker.RequestFilter{AgentID: grant.AgentID, Statuses: []broker.Status{broker.Pending}})
	if err != nil {
		return err
	}
	for _, r := range rows {
		r.Status, r.Resolver = broker.Consumed, grant.ID
		if err := tx.UpdateRequest(r, broker.Pending); err != nil {
			return err
		}
		if err := appended(tx, string(r.Status), r.ID); err != nil {
			return err
		}
	}
	tx.Notify(grant.ID)
	return nil
}

// answerOne denies one request, and holds that the grant has answered all or
// nothing.
func answerOne(tx broker.Tx, rid, agentID string) error {
	count := func(s broker.Status) (int, error) {
		return tx.CountRequests(broker.RequestFilter{AgentID: agentID, Statuses: []broker.Status{s}})
	}
	granted, err := count(broker.Active)
	if err != nil {
		return err
	}
	pending, err := count(broker.Pending)
	if err != nil {
		return err
	}
	if granted > 0 && pending > 0 {
		return errors.New("a part of what came with a grant was seen")
	}
	r, err := tx.Request(rid)
	if err != nil {
		return err
	}
	r.Status = broker.Denied
	if err := tx.UpdateRequest(r, broker.Pending); err != nil {
		return err
	}
	return appended(tx, string(r.Status), rid)
}

func withStatus(t *testing.T, tx broker.ReadTx, agentID string, s broker.Status) []broker.Request {
	t.Helper()
	rows, err := tx.Requests(broker.RequestFilter{AgentID: agentID, Statuses: []broker.Status{s}})
	require.NoError(t, err)
	return rows
}
