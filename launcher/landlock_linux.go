package launcher

import (
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

const (
	llRead  = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	llFile  = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
	llKnown = 1<<17 - 1 // up to ABI 9

	// Connecting to a socket that was made outside is granted for Config.Sockets.
	llWrite = llKnown &^ ll.AccessFSResolveUnix
)

// landlockProject is the second line: if the first, the mounts, had a hole,
// what lies beyond would still be refused. Rules bind inodes, and those in
// the project come and go, so the project is granted as a whole and the view
// decides within. Abstract sockets and signals stay inside.
func landlockProject(p *Plan) (lost []string, err error) {
	writable := slices.Concat([]string{p.Root}, p.Beside, p.Writable)
	config := landlock.MustConfig(landlock.AccessFSSet(llKnown), landlock.ScopedSet(ll.ScopeAbstractUnixSocket|ll.ScopeSignal))
	err = config.BestEffort().Restrict(
		landlock.PathAccess(llRead, "/"),
		landlock.PathAccess(llFile, "/dev"),
		landlock.PathAccess(ll.AccessFSReadFile|ll.AccessFSWriteFile|ll.AccessFSTruncate, "/proc"),
		landlock.PathAccess(llWrite, writable...),
		landlock.PathAccess(ll.AccessFSResolveUnix, p.Sockets...),
	)
	return lostWithout(landlockABI()), err
}

// landlockABI is the kernel's version of Landlock; 0 is none.
func landlockABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// SocketsRefused reports whether unix sockets of the host that lie in what is
// shown read-only, or as the home, refuse connections: a read-only mount alone
// does not make them (Landlock 9).
func SocketsRefused() bool { return landlockABI() >= 9 }

// lostWithout names the guarantees that an older Landlock cannot give.
func lostWithout(abi int) []string {
	var lost []string
	if abi < 1 {
		lost = append(lost, "no Landlock: the mounts are the only line of defence")
	}
	if abi < 6 {
		lost = append(lost, "Landlock before version 6: abstract unix sockets of the host can be reached")
	}
	return lost
}
