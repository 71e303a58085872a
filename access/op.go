package access

import "fmt"

// Op names what a caller wants to do with a path. The words appear in
// messages, in reports and on the command line.
type Op string

const (
	// OpRead opens, lists or inspects what is there.
	OpRead Op = "read"
	// OpWrite changes the content of a file that is there.
	OpWrite Op = "write"
	// OpCreate makes a new name: a file, a directory, a link.
	OpCreate Op = "create"
	// OpDelete removes a name.
	OpDelete Op = "delete"
	// OpRename moves a name: it deletes the old one and creates the new one.
	OpRename Op = "rename"
	// OpLink makes another hard link to a file.
	OpLink Op = "link"
	// OpMeta changes mode, owner, times or extended attributes.
	OpMeta Op = "meta"
)

// words is the one table between operations and actions. Of an operation, or an
// action, that stands in two rows the first one counts.
var words = []struct {
	op     Op
	action Action
}{
	{OpRead, FSRead},
	{OpWrite, FSWrite},
	{OpCreate, FSCreate},
	{OpDelete, FSDelete},
	{OpRename, FSMove},
	{OpMeta, FSMeta},
	{OpLink, FSMove}, // another name outlasts what is decided about the first, as a move does
	{OpRead, FSList},
}

// ParseOp reads one of the words above. Any other word is an error.
func ParseOp(word string) (Op, error) {
	op := Op(word)
	if op.Action() == "" {
		return "", fmt.Errorf("unknown op %q: want read, write, create, delete, rename, link, meta", word)
	}
	return op, nil
}

// Action is what policies call the operation. It is "", which no policy allows,
// for a word that is no operation.
func (o Op) Action() Action {
	for _, w := range words {
		if w.op == o {
			return w.action
		}
	}
	return ""
}

// Op is the operation that the resolver is asked about; false for an action that
// is not about files.
func (a Action) Op() (Op, bool) {
	for _, w := range words {
		if w.action == a {
			return w.op, true
		}
	}
	return "", false
}
