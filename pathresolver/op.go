package pathresolver

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

// ParseOp reads one of the words above. Any other word is an error.
func ParseOp(word string) (Op, error) {
	switch op := Op(word); op {
	case OpRead, OpWrite, OpCreate, OpDelete, OpRename, OpLink, OpMeta:
		return op, nil
	}
	return "", badWord("op", word, "read", "write", "create", "delete", "rename", "link", "meta")
}
