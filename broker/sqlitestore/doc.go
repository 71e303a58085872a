// Package sqlitestore keeps what the broker knows in one SQLite file. It needs
// no server and no C compiler, and is what `pinfold run` and `pinfold serve`
// use by default.
//
//	store, err := sqlitestore.Open(ctx, filepath.Join(stateDir, "broker.db"))
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	b, err := broker.New(ctx, broker.Options{Store: store})
//
// # Guarantees
//
// An update that was acknowledged has been flushed to the disk (write-ahead
// log, synchronous=FULL), and a kill at any moment leaves all of it or nothing.
// Updates that wait at the same time share a flush. On a full disk an update
// fails as broker.ErrFull, reading goes on, and so do updates once there is
// space. The file and its directory are its user's alone (0600, 0700).
//
// # Several processes
//
// Processes of one machine may share the file. One writes at a time; another
// waits up to busyTimeout. What a process changes wakes the others, as a change of
// any topic: on Linux at once, by a file beside the database that each watches, elsewhere
// within pollInterval. More than a few processes, or more
// than one machine, are what pgstore is for: the write-ahead log does not work
// over a network file system.
//
// # Limits
//
// Readers never wait for a writer. A schema that a newer pinfold made is
// refused.
//
// # Locks
//
// Store.mu guards what Close looks at; nothing is called while it is held.
package sqlitestore
