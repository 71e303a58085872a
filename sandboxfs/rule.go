package sandboxfs

import "github.com/pinfold-dev/pinfold/access"

// Outside of a view root may do with the files of others what it likes. In one that is
// Unprivileged it may not, and no rule of the resolver says so: the system does. Such a
// refusal is told as those by rules are.
const (
	// RuleNotOwner means that the file, or the directory that would change, belongs to
	// another user, whose mode does not let root in.
	RuleNotOwner access.Code = "not_owner"
	// RuleChown means that a file would have been given to another user or group.
	RuleChown access.Code = "chown"
)

// RuleUnclear means that a file is masked, and that it is not shown since not every byte
// of it is understood.
const RuleUnclear access.Code = "mask_unclear"

// RuleOpenOutside means that a program outside of the view has a lock of a database's
// shared memory. Where the server moves the data, memory is not shared with it.
const RuleOpenOutside access.Code = "open_outside"
