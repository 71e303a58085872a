package pathresolver

import "github.com/pinfold-dev/pinfold/access"

// Op names what a caller wants to do with a path.
type Op = access.Op

// The operations; see access.
const (
	OpRead   = access.OpRead
	OpWrite  = access.OpWrite
	OpCreate = access.OpCreate
	OpDelete = access.OpDelete
	OpRename = access.OpRename
	OpLink   = access.OpLink
	OpMeta   = access.OpMeta
)
