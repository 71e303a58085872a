// Package tuiinbox is the inbox of `pinfold requests --watch`: on a terminal, the
// requests that wait for an answer, each with what it would change.
//
//	err := tuiinbox.Run(ctx, tuiinbox.Options{Broker: client, In: os.Stdin, Out: os.Stdout, Env: os.Environ()})
//
// # Guarantees
//
// What was read is what is approved: an approval carries the digest of the request on
// the screen. Typing answers nothing: an answer is chosen by the first key of a burst,
// which shows what it would do, and given by a chord that no text contains, an
// approval only after a pause. A key that means nothing where it is pressed, and what
// is typed while the screen changes, is ignored with all that follows until there is a
// pause (package keyburst). When the selected request goes away, no other is selected
// in its place. Of what agents wrote only printable text reaches the terminal: control
// characters, escape sequences and marks of direction are shown as escapes. No text is
// cut at the screen's edge; it is wrapped.
//
// # Limits
//
// The difference is made when the request is selected, and anew when something changes
// at the broker, not when a file changes.
package tuiinbox
