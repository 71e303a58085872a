package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// Open opens one and the same database, each time as another Store, as another
// process would. Run closes them.
type Open func(t *testing.T) broker.Store

// within turns a hang into a failure.
const within = time.Minute

// Run proves the contract. fresh makes an empty database, which is gone with
// its test.
func Run(t *testing.T, fresh func(t *testing.T) Open) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"agents", agents},
		{"agents/deleted", agentsDeleted},
		{"agents/unique", agentsUnique},
		{"agents/filter", agentsFilter},
		{"requests", requests},
		{"requests/pending is one row", requestsPending},
		{"requests/filter", requestsFilter},
		{"requests/one winner", oneWinner},
		{"requests/answered with another", answeredTogether},
		{"messages", messages},
		{"messages/unique", messagesUnique},
		{"messages/pending", messagesPending},
		{"messages/delivered once", deliveredOnce},
		{"messages/many", messagesMany},
		{"audit", audit},
		{"audit/with its decision", auditAtomic},
		{"waits and brokers", waits},
		{"policies and rates", policies},
		{"usages", usages},
		{"text", text},
		{"updates/all or nothing", allOrNothing},
		{"updates/go on after a conflict", goesOn},
		{"updates/one after the other", serial},
		{"updates/as if alone", asIfAlone},
		{"updates/context", contexts},
		{"updates/panic", panics},
		{"views/consistent", consistent},
		{"views/change nothing", viewsChangeNothing},
		{"restart", restart},
		{"changes", changes},
		{"changes/slow reader", slowReader},
		{"changes/end", changesEnd},
		{"closed", closed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t, fresh(t))
		})
	}
}

// opened opens a store and closes it with the test.
func opened(t *testing.T, open Open) broker.Store {
	t.Helper()
	s := open(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// update is an Update that must succeed; fn may fail the test.
func update(t *testing.T, s broker.Store, fn func(tx broker.Tx)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	require.NoError(t, s.Update(ctx, func(tx broker.Tx) error {
		fn(tx)
		return nil
	}))
}

// view is a View that must succeed; fn may fail the test.
func view(t *testing.T, s broker.Store, fn func(tx broker.ReadTx)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	require.NoError(t, s.View(ctx, func(tx broker.ReadTx) error {
		fn(tx)
		return nil
	}))
}

// now is a fixed time with a part of a second, which must survive.
var now = time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC)

func agent(id string) broker.Agent {
	return broker.Agent{ID: id, Session: "agent:" + id + ":main", Cwd: "/src", State: broker.Working, CreatedAt: now}
}

func request(id, agentID string) broker.Request {
	return broker.Request{ID: id, AgentID: agentID, Action: "fs.write", Resource: "src/" + id, Digest: "digest of " + id,
		Status: broker.Pending, CreatedAt: now}
}

func message(id, recipient string) broker.Message {
	return broker.Message{ID: id, RecipientID: recipient, Type: broker.TypeManager, Verb: broker.VerbSend,
		Content: "content of " + id, CreatedAt: now}
}

// record is the next of the chain within tx. The hashes are not the broker's:
// a store does not look into them.
func record(head broker.Head, action, resource string) (broker.Record, broker.Head) {
	r := broker.Record{Seq: head.Seq + 1, Prev: head.Hash, Time: now, Action: action, Resource: resource}
	r.Hash = hash(r)
	return r, broker.Head{Seq: r.Seq, Hash: r.Hash}
}

// appended adds one record to the chain.
func appended(tx broker.Tx, action, resource string) error {
	head, err := tx.Head()
	if err != nil {
		return err
	}
	r, head := record(head, action, resource)
	return tx.Append([]broker.Record{r}, head)
}

func id(format string, n int) string { return fmt.Sprintf(format, n) }
