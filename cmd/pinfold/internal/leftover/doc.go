// Package leftover knows what a run left that can act later, on the next build,
// the next commit, or when somebody follows a link.
//
// A Record is told of each change while the run goes on and keeps those places
// that may matter: it looks at names and modes only, so that it costs a change
// less than a microsecond. What became of them is looked at once, when the run
// has ended (Examine). Nothing is walked but directories that were moved.
package leftover
