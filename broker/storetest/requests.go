package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// requests: rows come back exactly, every field.
func requests(t *testing.T, open Open) {
	s := opened(t, open)
	full := broker.Request{
		ID: "r1", AgentID: "worker", ApproverID: "root", Action: access.FSWrite, Resource: "src/a.go",
		Also: []access.Access{{Action: access.FSRead, Resource: "b"}}, Tool: "edit_file", Input: `{"a": "\u0000"}`,
		Reason: "because", Digest: "digest", Status: broker.Pending, Code: "expired", DenyReason: "no",
		Scope: broker.Until, Until: now.Add(time.Hour), Deadline: now.Add(time.Minute), Resolver: "root",
		CreatedAt: now, ResolvedAt: now.Add(time.Second),
	}
	empty := request("r0", "worker")
	empty.Also = []access.Access{}
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.InsertRequest(full))
		require.NoError(t, tx.InsertRequest(empty))
		require.ErrorIs(t, tx.InsertRequest(full), broker.ErrExists)
	})
	full.Status, full.Also, full.Until, full.Resolver = broker.Active, nil, time.Time{}, "operator"
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.UpdateRequest(full, broker.Pending))
		require.ErrorIs(t, tx.UpdateRequest(full, broker.Pending), broker.ErrConflict)
		require.ErrorIs(t, tx.UpdateRequest(request("none", "worker"), broker.Pending), broker.ErrNotFound)
	})
	view(t, s, func(tx broker.ReadTx) {
		all, err := tx.Requests(broker.RequestFilter{})
		require.NoError(t, err)
		require.Equal(t, []broker.Request{empty, full}, all, "in order of id")
		one, err := tx.Request("r1")
		require.NoError(t, err)
		require.Equal(t, full, one)
		_, err = tx.Request("none")
		require.ErrorIs(t, err, broker.ErrNotFound)
	})
}

// requestsPending: the same request while it is pending is the same row,
// also when many ask at the same time.
func requestsPending(t *testing.T, open Open) {
	stores := []broker.Store{opened(t, open), opened(t, open)}
	same := func(i int) broker.Request {
		r := request(id("r%02d", i), "worker")
		r.Digest = "the same"
		return r
	}
	const askers = 16
	errs := together(askers, func(i int) error {
		return stores[i%2].Update(context.Background(), func(tx broker.Tx) error { return tx.InsertRequest(same(i)) })
	})
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		require.ErrorIs(t, err, broker.ErrExists)
	}
	require.Equal(t, 1, made)
	update(t, stores[0], func(tx broker.Tx) {
		pending, err := tx.Requests(broker.RequestFilter{AgentID: "worker", Digest: "the same", Statuses: []broker.Status{broker.Pending}})
		require.NoError(t, err)
		require.Len(t, pending, 1)
		other := same(askers)
		other.AgentID = "another"
		require.NoError(t, tx.InsertRequest(other), "another agent's")

		r := pending[0]
		r.Status = broker.Denied
		require.NoError(t, tx.UpdateRequest(r, broker.Pending))
		require.NoError(t, tx.InsertRequest(same(askers+1)), "the first is answered")
		r.Status = broker.Pending
		require.ErrorIs(t, tx.UpdateRequest(r, broker.Denied), broker.ErrExists)
	})
}

func requestsFilter(t *testing.T, open Open) {
	s := opened(t, open)
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	update(t, s, func(tx broker.Tx) {
		for _, r := range []struct {
			id, agent, approver string
			status              broker.Status
			until, deadline     time.Time
		}{
			{"r1", "a", "", broker.Pending, time.Time{}, at(5)},
			{"r2", "a", "m", broker.Pending, time.Time{}, time.Time{}},
			{"r3", "a", "m", broker.Active, at(5), at(1)},
			{"r4", "b", "m", broker.Active, time.Time{}, time.Time{}},
			{"r5", "b", "m", broker.Denied, at(1), at(1)},
			{"r6", "b", "m", broker.Approved, at(1), at(1)},
		} {
			row := request(r.id, r.agent)
			row.ApproverID, row.Status, row.Until, row.Deadline = r.approver, r.status, r.until, r.deadline
			require.NoError(t, tx.InsertRequest(row))
		}
	})
	none, m := "", "m"
	for _, tt := range []struct {
		f    broker.RequestFilter
		want []string
	}{
		{broker.RequestFilter{AgentID: "a"}, []string{"r1", "r2", "r3"}},
		{broker.RequestFilter{ApproverID: &none}, []string{"r1"}},
		{broker.RequestFilter{ApproverID: &m, Statuses: []broker.Status{broker.Pending, broker.Denied}}, []string{"r2", "r5"}},
		{broker.RequestFilter{Digest: "digest of r4"}, []string{"r4"}},
		{broker.RequestFilter{Due: at(4)}, nil},
		{broker.RequestFilter{Due: at(5)}, []string{"r1", "r3"}},
		{broker.RequestFilter{Due: at(5), Statuses: []broker.Status{broker.Active}}, []string{"r3"}},
		{broker.RequestFilter{Newest: true, Limit: 2}, []string{"r6", "r5"}},
		{broker.RequestFilter{After: "r3"}, []string{"r4", "r5", "r6"}},
		{broker.RequestFilter{After: "r3", Limit: 2}, []string{"r4", "r5"}},
	} {
		view(t, s, func(tx broker.ReadTx) {
			all, err := tx.Requests(tt.f)
			require.NoError(t, err)
			var got []string
			for _, r := range all {
				got = append(got, r.ID)
			}
			require.Equal(t, tt.want, got, "%+v", tt.f)
			unlimited := tt.f
			unlimited.Limit = 0
			all, err = tx.Requests(unlimited)
			require.NoError(t, err)
			n, err := tx.CountRequests(tt.f)
			require.NoError(t, err)
			require.Equal(t, len(all), n, "%+v", tt.f)
		})
	}
}

// oneWinner: 16 resolvers for each request, on two stores, exactly one of them
// wins, and its record is the only one.
func oneWinner(t *testing.T, open Open) {
	const requests, resolvers = 500, 16
	stores := []broker.Store{opened(t, open), opened(t, open)}
	update(t, stores[0], func(tx broker.Tx) {
		for i := range requests {
			require.NoError(t, tx.InsertRequest(request(id("r%03d", i), "worker")))
		}
	})
	var mu sync.Mutex
	winners := map[string]string{}
	errs := together(resolvers, func(i int) error {
		me := id("resolver %d", i)
		for n := range requests {
			rid := id("r%03d", n)
			err := stores[i%2].Update(context.Background(), func(tx broker.Tx) error {
				r, err := tx.Request(rid)
				if err != nil {
					return err
				}
				r.Status, r.Resolver, r.ResolvedAt = broker.Active, me, now
				if err := tx.UpdateRequest(r, broker.Pending); err != nil {
					return err
				}
				return appended(tx, "approve", rid+" by "+me)
			})
			if errors.Is(err, broker.ErrConflict) {
				continue
			}
			if err != nil {
				return err
			}
			mu.Lock()
			if other := winners[rid]; other != "" {
				err = errors.New(rid + " was won by " + other + " and " + me)
			}
			winners[rid] = me
			mu.Unlock()
			if err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, errors.Join(errs...))
	require.Len(t, winners, requests)
	view(t, stores[1], func(tx broker.ReadTx) {
		all, err := tx.Requests(broker.RequestFilter{})
		require.NoError(t, err)
		require.Len(t, all, requests)
		recorded := map[string]bool{}
		for _, r := range chain(t, tx) {
			recorded[r.Resource] = true
		}
		require.Len(t, recorded, requests)
		for _, r := range all {
			require.Equal(t, winners[r.ID], r.Resolver)
			require.True(t, recorded[r.ID+" by "+r.Resolver])
		}
	})
}

// together runs fn n times at the same time and returns their errors.
func together(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}
