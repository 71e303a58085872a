package sandboxfs

import (
	"sync"

	"golang.org/x/sys/unix"
)

// wantOpenFiles is how many descriptors a serving process should be able to
// hold: a file that is open in a write part costs one.
const wantOpenFiles = 1 << 16

// raiseOpenFiles raises RLIMIT_NOFILE as far as this process may, where it is
// low. It changes the process, once. A view works with less: an open beyond it
// is EMFILE for the caller.
//
// The Go runtime has raised the soft limit before, and gives what is started
// the first one, as long as nobody else changes it: select(2) fails in
// programs that trust a small limit. So it is left alone where it is enough.
var raiseOpenFiles = sync.OnceFunc(func() {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil || now.Cur >= wantOpenFiles {
		return
	}
	high := unix.Rlimit{Cur: wantOpenFiles, Max: max(now.Max, wantOpenFiles)}
	// Setrlimit would have the runtime forget the first limit even on failure.
	if unix.Prlimit(0, unix.RLIMIT_NOFILE, &high, nil) != nil && now.Cur+1 < now.Max {
		_ = unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: now.Max, Max: now.Max}, nil)
	}
})
