// Package resolved is the door through which a view, and the judge of what a
// confined program tried, reach into a pathresolver.Resolver: they hold places
// that a resolver gave, decide about them, and act on what stands there. A place
// is a string, and acting on one asks no rule, so none of this is exported to
// users of pathresolver, who have its verbs.
package resolved

import "io/fs"

// Of returns what a *pathresolver.Resolver offers behind the door. It has the
// exported methods of the resolver and those of pathresolver's type inside; the
// caller names the ones that it needs by an interface of its own. pathresolver
// sets it.
var Of func(resolver any) any

// FileID tells one file from all others, also from a later one that is given
// the same inode number, and says how many names it has.
type FileID struct {
	Dev, Ino uint64
	Born     int64  // time of birth in nanoseconds, 0 where the file system does not know it
	Links    uint32 // st_nlink
}

// Arrival is what is about to get a name by rename(2).
type Arrival struct {
	Mode fs.FileMode // its type and permissions
	ID   FileID
}

// AskPlace is where something may have to be asked for.
type AskPlace struct {
	// Place is the literal beginning of a glob, "." where it begins with a
	// wildcard.
	Place string
	// Makes says that it may be asked for to make Place itself, where nothing
	// stands there.
	Makes bool
}

// GitContent says which rule the content of a file in a git directory is under.
type GitContent uint8

const (
	// GitFree content is under no rule.
	GitFree GitContent = iota
	// GitIndex is an index, whose paths git writes to and removes.
	GitIndex
	// GitConfig is the configuration of a git directory that was made through
	// this resolver.
	GitConfig
	// GitLink is a file ".git", which names the git directory of a work tree.
	GitLink
	// GitCommonDir is the commondir of a linked work tree.
	GitCommonDir
	// GitTreeLink is the gitdir of a linked work tree, the way back to its file
	// ".git": "git worktree repair" writes to what it names.
	GitTreeLink
	// GitNumber is how far a rebase is, which git's own prompt for shells shows
	// without quoting it: "$(command)" would run.
	GitNumber
	// GitRefs are packed refs, which may not have what refs/replace may not.
	GitRefs
)
