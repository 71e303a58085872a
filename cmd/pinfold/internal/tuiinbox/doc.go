// Package tuiinbox is the inbox of `pinfold requests --watch`: on a terminal, the
// requests that wait for whoever sits there, each with what it would change, to
// be answered.
//
//	err := tuiinbox.Run(ctx, tuiinbox.Options{Broker: client, In: os.Stdin, Out: os.Stdout, Env: os.Environ()})
//
// # Guarantees
//
// What was read is what is approved: an approval carries the digest of the
// request on the screen. Typing answers nothing: an answer is chosen by the first
// key of a burst, which shows what it would do, and given by a chord that no text
// contains, an approval only after a pause. A key that means nothing where it is
// pressed, and what is typed while the screen changes, is ignored with all that
// follows until there is a pause (package keyburst). A request that
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
