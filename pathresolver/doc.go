// Package pathresolver answers one question: where does this path lead, and
// may it be read or written? It answers with an open handle or a result,
// never with a path to be opened later.
//
// Reading is possible only beneath Config.Root. Writing is possible only
// beneath one of Config.WritePaths; without any, everything is read-only.
// Names that match Config.Hide do not exist for the caller, nor what none of
// Config.ReadPaths covers, if there are any; names that match Config.Protect can
// be read but never changed. What Config.AskRead and Config.AskWrite match is
// refused by a rule that says that it may be asked for.
//
//	r, err := pathresolver.New(pathresolver.Config{
//		Root:       "/home/me/project",
//		WritePaths: []string{"src"},
//	})
//	if err != nil {
//		return err // a *ConfigError that lists every violation
//	}
//	defer r.Close()
//	err = r.WriteFile("src/main.go", data, 0o644) // works
//	err = r.WriteFile("go.mod", data, 0o644)      // a *DeniedError
//
// # Words
//
// An unsafePath is a string as a caller gave it. A place is what is left when
// every link and every ".." has been followed: plain names joined by "/",
// relative to the root; "." is the root. All rules are rules over places.
//
// # Guarantees
//
// A verdict and the act it allows use the same descriptor. On Linux the walk
// to a place is one openat2 with RESOLVE_NO_SYMLINKS, so the lexical prefix is
// the physical one; where openat2 is missing a walker opens one component
// after the other. Both give the same verdicts. A path that another process
// swaps for a symbolic link between two operations is refused, not followed.
//
// # Limits
//
// The root's own path is trusted and resolved once. A process that may mount
// file systems beneath the root can hide files but shows no new ones: mounts
// that were not there when New ran are refused. A hard link that existed
// before New cannot be told from the file it aliases when it is read.
//
// # Concurrency
//
// A Resolver is safe for use by many goroutines. It holds one lock, over the
// table of hard links made through it, which is never held during a system
// call.
package pathresolver
