// Package resolved is the door through which a view, a call of a skill, the command
// and the judge of what a confined program tried reach into a
// pathresolver.Resolver: they hold places that a resolver gave, decide about them,
// and act on what stands there, or say at length why something is refused. A place
// is a string, and acting on one asks no rule, so none of this is exported to users
// of pathresolver, who have its verbs.
package resolved

import (
	"io/fs"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
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
	Masked       bool   // its values are masked: Protected, and read with stand-ins only
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
	// GitTables is the list of the tables of a reftable: git reads the files that it
	// names, and removes them when it has written one table in their place.
	GitTables
)

// Change is what is added to the rules of a resolver that is open.
type Change struct {
	Write, Hide []string // as pathresolver.Config has them
	Origin      string   // where that was said, for messages
}

// Decision is what Explain answers. It is for the operator: Link and Target
// may tell where a link leads outside the root.
type Decision struct {
	Op       access.Op   `json:"op"`
	Path     string      `json:"path"` // as given
	Allowed  bool        `json:"allowed"`
	Place    string      `json:"place,omitempty"` // where the path leads, if to a place
	Exists   bool        `json:"exists"`
	Rule     access.Code `json:"rule,omitempty"` // which rule refused
	Reason   string      `json:"reason"`
	Pattern  string      `json:"pattern,omitempty"`  // the glob or write path that decided
	Origin   string      `json:"origin,omitempty"`   // where that entry was written, from Config.Origins
	Link     string      `json:"link,omitempty"`     // the link that decided, as a place
	Target   string      `json:"target,omitempty"`   // and its text
	Writable []string    `json:"writable"`           // the write paths
	Readable []string    `json:"readable,omitempty"` // the read paths; none: everything
}

// Explain says what a *pathresolver.Resolver would decide about op at a path, and
// why, without doing it.
func Explain(resolver any, op access.Op, path string) Decision {
	return Of(resolver).(interface {
		Explain(op access.Op, unsafePath string) Decision
	}).Explain(op, path)
}

// VerdictAt is what the rules of a *pathresolver.Resolver say about a place.
func VerdictAt(resolver any, place string) Verdict {
	return Of(resolver).(interface{ Verdict(place string) Verdict }).Verdict(place)
}

// GrantFor is a pathresolver.Grant of exactly these.
func GrantFor(accesses ...access.Access) func(op access.Op, place string) bool {
	return func(op access.Op, place string) bool {
		return slices.Contains(accesses, access.Access{Action: op.Action(), Resource: place})
	}
}

// Origins says where the entries of a pathresolver.Config were written, as text for
// messages: "worker-docs:fs.hide[2] (policy.yaml:4:9)". It decides nothing.
// Its zero value names nothing.
type Origins struct {
	// Entries are by the names that pathresolver.Violation.Field has for them: "hide[2]",
	// "write_paths[0]", "git". "protect" stands for DefaultProtected.
	Entries map[string]string

	// Write are the lists that WritePaths were made from: WritePaths cover what all of
	// them cover. For a place that no write path covers, messages name the first list
	// that does not cover it.
	Write []OriginList

	// Read are the same for ReadPaths.
	Read []OriginList
}

// OriginList is one list of what may be done, and where it was written.
type OriginList struct {
	Paths  []string // places or globs
	Origin string
}
