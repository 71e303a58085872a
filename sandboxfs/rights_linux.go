package sandboxfs

import (
	"log"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// fileCapabilities are those that concern files and their permissions: the set
// that setfsuid(2) takes from who leaves uid 0 (capabilities(7)). The kernel
// splits the set of all capabilities into two words.
var fileCapabilities = [2]uint32{
	1<<unix.CAP_CHOWN | 1<<unix.CAP_MKNOD | 1<<unix.CAP_DAC_OVERRIDE |
		1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_LINUX_IMMUTABLE,
	1 << (unix.CAP_MAC_OVERRIDE - 32),
}

// withoutFileCapabilities runs f on a thread that has none, and on no other.
// Nothing is done before they are gone.
func withoutFileCapabilities(log *log.Logger, f func()) {
	runtime.LockOSThread()
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var had [2]unix.CapUserData
	for {
		err := unix.Capget(&hdr, &had[0])
		if err == nil {
			fewer := had
			for i := range fewer {
				fewer[i].Effective &^= fileCapabilities[i]
			}
			if err = unix.Capset(&hdr, &fewer[0]); err == nil {
				break
			}
		}
		log.Printf("give up capabilities: %v", err) // the kernel has no memory
		time.Sleep(patience)
	}
	f()
	// A thread that is not unlocked ends with its goroutine.
	if unix.Capset(&hdr, &had[0]) == nil {
		runtime.UnlockOSThread()
	}
}
