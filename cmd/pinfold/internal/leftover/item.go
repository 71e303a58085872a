package leftover

import (
	"cmp"
	"slices"
)

// Kind is what an Item is.
type Kind string

// The kinds, in the order in which they are told.
const (
	Link       Kind = "link"       // a symbolic link that leads out of the write paths
	FIFO       Kind = "fifo"       // a named pipe: who opens it waits
	Socket     Kind = "socket"     // who connects talks to whoever listens there
	ByItself   Kind = "by_itself"  // a file that its program runs or trusts unasked, and that was not protected here
	Repository Kind = "repository" // a git repository that was made, or whose hooks or configuration were written
	Operation  Kind = "operation"  // of git, which was begun and not finished
	Later      Kind = "later"      // a file that decides what a build, a test, a push and the like run
	Packages   Kind = "packages"   // a directory of installed packages in which something changed
	Executable Kind = "executable" // a program or script that was made or changed
)

// order is that of the constants.
var order = []Kind{Link, FIFO, Socket, ByItself, Repository, Operation, Later, Packages, Executable}

// Kinds are all kinds.
func Kinds() []Kind { return slices.Clone(order) }

// Item is one thing that was left.
type Item struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path"` // absolute
	// Leads is where a link leads, an absolute path as far as that can be told.
	Leads string `json:"leads,omitempty"`
	// Program runs or trusts the file, and When that is, as pathresolver's tables
	// of such files say.
	Program string `json:"program,omitempty"`
	When    string `json:"when,omitempty"`
	// Detail says more in words: which hooks, which operation, what it will run.
	Detail string `json:"detail,omitempty"`
}

// sortItems puts items in the order of their kinds, and then of their paths.
func sortItems(items []Item) {
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), cmp.Compare(a.Path, b.Path))
	})
}
