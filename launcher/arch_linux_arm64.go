package launcher

import "golang.org/x/sys/unix"

const (
	auditArch  = unix.AUDIT_ARCH_AARCH64
	foreignBit = 0
)

// The architecture began without the calls that have no directory argument.
var legacyModeCalls []modeCall

// The architecture began without the calls that have no directory argument.
var (
	legacyCalls   []watchedCall
	legacyInotify []uint32
)
