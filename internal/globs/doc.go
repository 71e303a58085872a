// Package globs is the one engine that matches places against globs: rules of a
// policy, arguments of a skill, lines of a .gitignore, entries of a
// .pinfold.yaml. All of these may come from somebody who wants to be slow to
// answer, so that what a glob costs is bounded by its length, whatever it says.
//
// A glob is read once, by [Parse], into components. In a component
//
//   - is any run of characters, also none
//     ?        is one character
//     [a-c]    is one character of a class, [!a-c] or [^a-c] one that is not in it
//     {a,b*}   is one of several alternatives, which may hold all of these
//     \x       is x itself
//
// and a component "**" is any number of components. That is the dialect of
// github.com/bmatcuk/doublestar/v4, which tries alternatives one within the
// other, in a time that is exponential in their number. Here a component is an
// automaton whose states are followed all at once (Thompson 1968): a match
// takes at most the length of the glob times that of the name, and allocates
// nothing.
//
// The package differs from doublestar on purpose in this:
//
//   - There are bounds, of which the constants tell.
//   - Braces that stand for nothing at the end are seen: a*{,b} matches "a",
//     where doublestar gives up.
//   - A byte that is no UTF-8 is matched by itself, a wildcard or a class that
//     excludes others. In doublestar every such byte is the same as every other
//     and as U+FFFD.
//   - "**" stands alone in its component, and "/" within braces or brackets is
//     refused; [Alternatives] writes such braces out.
package globs
