package sandboxfs

import (
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// act is an operation as the rules are asked about it.
type act struct {
	op       pathresolver.Op
	place    string
	kind     fs.FileMode // of what OpCreate makes
	to       string      // of OpRename and OpLink
	exchange bool
	reads    bool // content too, besides what op says
}

// decide asks the rules about all of it.
func (a act) decide(r *pathresolver.Resolver, leave pathresolver.Grant) *pathresolver.DeniedError {
	switch a.op {
	case pathresolver.OpRename:
		return r.DecideRenameGranted(leave, a.place, a.to, a.exchange)
	case pathresolver.OpLink:
		return r.DecideLinkGranted(leave, a.place, a.to)
	}
	if d := r.DecideGranted(leave, a.op, a.place, a.kind); d != nil || !a.reads {
		return d
	}
	return r.DecideGranted(leave, pathresolver.OpRead, a.place, 0)
}

// accesses are what leave is needed for: what a move or another name takes out
// of reach of a rule about reading can be read from then on.
func (a act) accesses(r *pathresolver.Resolver) []access.Access {
	is := func(op pathresolver.Op, place string) access.Access {
		return access.Access{Action: op.Action(), Resource: place}
	}
	var all []access.Access
	switch a.op {
	case pathresolver.OpRename:
		all = append(all, is(a.op, a.place), is(a.op, a.to))
		if a.exchange && r.Verdict(a.to).AskRead {
			all = append(all, is(pathresolver.OpRead, a.to))
		}
	case pathresolver.OpLink:
		all = append(all, is(pathresolver.OpRename, a.place), is(pathresolver.OpWrite, a.place), is(pathresolver.OpCreate, a.to))
	default:
		all = append(all, is(a.op, a.place))
	}
	if a.reads || a.to != "" && r.Verdict(a.place).AskRead {
		all = append(all, is(pathresolver.OpRead, a.place))
	}
	return all
}
