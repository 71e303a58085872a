// Package pgstore keeps what brokers know in PostgreSQL. Brokers on several
// machines that open one database act as one: a request that waits at one is
// answered at another.
//
//	store, err := pgstore.Open(ctx, "postgres://pinfold@db.example/pinfold")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	b, err := broker.New(ctx, broker.Options{Store: store})
//
// # Guarantees
//
// An update that was acknowledged is committed and flushed by the server
// (synchronous_commit is switched on where it is off). Updates of all brokers
// are one after the other, under an advisory lock; those that wait in one
// process share a commit. While no other broker has committed anything, which their count of
// commits tells, what a broker has read it does not read again. No transaction fails because of another,
// so none is repeated.
//
// A broker that hangs within an update loses it after idleTimeout, and the
// others go on. When the server is gone, operations fail and say so; nothing
// has to be opened again when it is back.
//
// # Changes
//
// They come by LISTEN and NOTIFY. Where the connection was lost, listeners are
// told that anything may have changed as soon as it is there again.
//
// # Limits
//
// The tables are in the first schema of search_path; another schema of the same
// database holds another pinfold. The database's encoding is UTF8. LISTEN needs a session of its own: a
// pooler in between must pool sessions, not transactions. When the connection
// is lost while an update is being committed, it fails though it may have
// happened.
package pgstore
