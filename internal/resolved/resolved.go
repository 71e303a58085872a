// Package resolved is the door through which a view, and the judge of what a
// confined program tried, reach into a pathresolver.Resolver: they hold places
// that a resolver gave, decide about them, and act on what stands there. A place
// is a string, and acting on one asks no rule, so none of this is exported to
// users of pathresolver, who have its verbs.
package resolved

import (
	"io/fs"

	"github.com/pinfold-dev/pinfold/internal/trusted"
)

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

// Verdict is what the rules say about one place, whether or not something is
// there. Its zero value means readable and not writable.
type Verdict struct {
	Hidden       bool   // a hide glob covers it, or no read path does: it does not exist for the caller
	TraverseOnly bool   // it leads to a read path: a directory that shows only what leads on
	AskRead      bool   // its content is to be asked for; name and attributes are seen
	Protected    bool   // never changed
	AskWrite     bool   // changing it is to be asked for
	Writable     bool   // a write path covers it, and none of the above
	Pattern      string // the glob or write path that decided about changing it, or hides it; "" if none did
	Origin       string // where that was written; "" if nobody said

	// Trusted is set where the place is protected because a program runs or
	// trusts what is there by itself.
	Trusted *trusted.File
}

// HidesEntry reports whether an entry of a listing is left out: it is hidden,
// or leads to a read path and is no directory.
func (v Verdict) HidesEntry(typ fs.FileMode) bool {
	return v.Hidden || v.TraverseOnly && !typ.IsDir()
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
