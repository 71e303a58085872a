// Package broker lets what a policy refuses be asked for. It knows which agent
// is whose manager, puts a refused request to that manager, carries messages
// under the send rules, and records every decision. What it knows is in a
// Store; it is the same on SQLite and PostgreSQL, and several brokers over one
// PostgreSQL act as one.
//
//	b, err := broker.New(ctx, broker.Options{Store: store})
//	if err != nil {
//		return err
//	}
//	defer b.Close()
//	root, _, err := b.Hire(ctx, broker.OperatorIdentity(), broker.HireSpec{ID: "boss", Cwd: dir, Policy: policy})
//	...
//	d := b.Gate(broker.AgentIdentity(root.ID)).Check(ctx, access.Request{
//		Action: access.FSWrite, Resource: "src/a.go", Tool: "write_file", MayBlock: true,
//	})
//
// # The life of a request
//
//  1. A Gate is asked (gate.go). It puts the request to the agent's policy.
//     What is allowed or denied is answered at once: nobody is asked.
//  2. What the policy marks `ask` becomes a row (ask.go), pending, bound to a
//     digest of the exact request. The same request while it is pending is the
//     same row. The manager is the agent's parent, or the operator; it gets a
//     message, which wakes it.
//  3. Who can wait, waits for the row to change (wait.go), with its context:
//     there is no timer unless a policy sets one. The wait outlives the broker:
//     the row stays, and whoever asks for it by its id waits again.
//  4. The manager approves or denies (resolve.go). An approval counts only if
//     the manager's own policy allows the very same request at that moment.
//     One answer wins; the row and its record are one transaction.
//  5. An approval is a grant (grant.go): the agent's policy with it (policy.go),
//     within the manager's own, is another value, and the request is put to
//     that once more. A grant turns an ask into an allow. It never turns a deny.
//  6. A grant for one time is consumed with that answer; any other is active
//     until it is revoked, expires, or the agent ends. What else the agent has
//     pending, and would not have to ask for any more, is answered with it
//     (cover.go).
//
// A request also ends when nobody is left to answer it: its agent or its
// manager is fired or exits, it is interrupted, agents wait for each other in a
// circle, or its policy's longest wait is over.
//
// # Guarantees
//
// An answer is on disk before it is given: a denial, a grant, a message and the
// record of each. Who asks is the Identity that the transport hands in, never a
// field of a request. A request that has been answered stays answered. Records
// form a chain of hashes: Verify finds one that was changed, removed or moved.
// Whatever an agent can make grow has a bound in limits.go, at a time and in a
// minute, and by Options.Keep in all (usage.go): beyond that attempts are counted, and
// a record says how many, while answers, approvals, and who was hired and fired are
// always recorded. Text that an agent gave in a request is escaped and cut before a
// manager reads it; a message's content is handed over as it was sent.
//
// # Limits
//
// The broker holds no process: whoever runs an agent's process waits with
// AwaitAgent for it to be fired or interrupted, and stops it. Whoever may write
// the database may write a new chain; only a head kept elsewhere (Broker.Head)
// shows that. An agent works in its manager's directory, because its policy's
// paths are relative to it. Only a fired agent's mailbox is ever deleted:
// requests that were answered, other messages and records stay.
//
// # Locks
//
// Each lock guards one table in memory (who is to be woken, compiled policies,
// attempts), and nothing is called while it is held. All other order is the
// store's: its transactions are one after the other, and nothing waits for a
// person within one.
package broker
