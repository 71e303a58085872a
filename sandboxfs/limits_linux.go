package sandboxfs

import (
	"sync"

	"golang.org/x/sys/unix"
)

// wantOpenFiles is how many descriptors a serving process should be able to
// hold: a file that is open in a write part costs one.
const wantOpenFiles = 1 << 20

// raiseOpenFiles raises RLIMIT_NOFILE as far as this process may. It changes
// the process, once. A view works with less: an open beyond it is EMFILE for
// the caller.
var raiseOpenFiles = sync.OnceFunc(func() {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil || now.Cur >= wantOpenFiles {
		return
	}
	high := unix.Rlimit{Cur: wantOpenFiles, Max: max(now.Max, wantOpenFiles)}
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &high) != nil {
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: now.Max, Max: now.Max})
	}
})
