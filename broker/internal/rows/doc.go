// Package rows is what SQLite and PostgreSQL have in common as a broker.Store:
// the tables and the SQL, in the part of the language that both speak, and the
// queue in which updates are made. A store is a Backend and what belongs to its
// technology alone: how to connect, how to be the only writer, how to hear of
// what others changed.
//
//   - Tx is a broker.Tx in SQL (agents.go, requests.go, messages.go, audit.go,
//     waits.go, small.go). What must be unique is held by indexes, and asked for
//     with ON CONFLICT DO NOTHING, so that a transaction goes on.
//   - Queue runs updates one after the other and commits those that wait
//     together: one flush to the disk for many (queue.go).
//   - layer is what updates need not read again and have still to write (layer.go).
//   - Hub hands topics to whoever listens and holds nobody up (hub.go).
//   - Migrate brings a database to this program's schema (migrate.go).
//
// # Locks
//
// Hub.mu guards the listeners; nothing is called while it is held. The Queue
// has none: one goroutine owns the connection that writes.
package rows
