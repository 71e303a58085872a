// Package tuiinbox is the inbox of `pinfold requests --watch`: on a terminal, the
// requests that wait for whoever sits there, each with what it would change, to
// be answered by a key.
//
//	err := tuiinbox.Run(ctx, tuiinbox.Options{Broker: client, In: os.Stdin, Out: os.Stdout, Env: os.Environ()})
//
// # Guarantees
//
// What was read is what is approved: an approval carries the digest of the
// request on the screen. Keys that answer count only once the whole request is
// there and has been on the screen for a moment, so that neither what was typed
// ahead nor a second press answers a request that nobody has read. A request that
// goes away takes the selection with it to no other. Of what agents wrote only
// printable text reaches the terminal: control characters, escape sequences and
// marks of direction are shown as escapes, and no text is cut at the screen's
// edge: it is wrapped.
//
// # Limits
//
// The difference is made when the request is selected, and anew when something
// changes at the broker, not when a file changes.
package tuiinbox
