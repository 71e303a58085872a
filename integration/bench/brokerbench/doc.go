//go:build linux

// Package brokerbench measures a broker that is full: ten thousand agents, a
// hundred thousand messages and a thousand requests that wait, on SQLite and on
// a PostgreSQL of its own, by one broker and across two. Beside that stands what
// the check of a message costs by the number of patterns in a send ACL.
//
// Everything is one process, each broker on a store of its own, as another
// process would open it. PostgreSQL is a process beside it, and not in what is
// said of memory.
package brokerbench
