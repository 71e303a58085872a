package sandboxfs

import (
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// errnoOf is the one table from rules to what a program inside the view gets.
// ENOENT: it does not exist for this caller. EROFS: it is never writable.
// EBUSY: it stays where it is. EACCES: it may not be read, or could be asked
// for. A rule that is not listed is EACCES.
var errnoOf = map[access.Code]syscall.Errno{
	pathresolver.RuleHidden:        syscall.ENOENT,
	pathresolver.RuleNotReadable:   syscall.ENOENT,
	pathresolver.RuleAsk:           syscall.EACCES,
	pathresolver.RuleNoWritePath:   syscall.EROFS,
	pathresolver.RuleProtected:     syscall.EROFS,
	pathresolver.RuleMasked:        syscall.EROFS,
	RuleUnclear:                    syscall.EACCES,
	pathresolver.RuleWritePathSelf: syscall.EBUSY,
	pathresolver.RuleEscapes:       syscall.EACCES,
	pathresolver.RuleHardLink:      syscall.EACCES,
	pathresolver.RuleSpecialFile:   syscall.EACCES,
	pathresolver.RuleOutsideRoot:   syscall.EACCES,
	pathresolver.RuleSymlinkEscape: syscall.EACCES,
	pathresolver.RuleMagicLink:     syscall.EACCES,
	pathresolver.RuleMountPoint:    syscall.EACCES,
	pathresolver.RuleInvalidPath:   syscall.EINVAL,
	pathresolver.RuleUnstable:      syscall.EAGAIN,
	RuleOpenOutside:                syscall.EAGAIN,
}

// errno is the table's entry for a rule.
func errno(rule access.Code) syscall.Errno {
	if e, ok := errnoOf[rule]; ok {
		return e
	}
	return syscall.EACCES
}
