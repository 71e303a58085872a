package viewhost

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// ServedBy are the options for a server that runs as this user.
func ServedBy(uid, gid int) sandboxfs.Options {
	if uid == 0 {
		// Without AllowOther the kernel lets in only who has both of Owner's ids.
		return sandboxfs.Options{Passthrough: true, DefaultPermissions: true, Owner: sandboxfs.IDs{GID: uint32(gid)}}
	}
	// Identifiers that the user namespace does not map would give EOVERFLOW.
	own := sandboxfs.IDs{UID: uint32(uid), GID: uint32(gid)}
	return sandboxfs.Options{SquashIDs: &own, Owner: own}
}

// spareProcessors is how many Ps the Go runtime of a serving process has. One
// goroutine at a time works for each connection, and waits in a system call for
// the next request. Where no P is idle the runtime takes the P of such a call
// away after 20 µs and starts a thread that looks for other work, for each
// request (measured: up to twice the time for a small one); where one is idle
// it waits 10 ms. An idle P costs nothing.
const spareProcessors = 8

// BecomeServer prepares the process for answering requests. GOMAXPROCS in the
// environment takes precedence.
func BecomeServer() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(spareProcessors, runtime.GOMAXPROCS(0)))
	}
}

// StartFast puts collections of garbage off while a run starts, which makes little: two of
// them took a twentieth of its time. What it returns ends that.
func StartFast() (started func()) {
	percent := debug.SetGCPercent(-1)
	return func() { debug.SetGCPercent(percent) }
}
