package launcher

import (
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/pinfold-dev/pinfold/internal/confine"
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
func landlockProject(p *runPlan) (lost []string, err error) {
	writable := slices.Concat([]string{p.Root}, p.Beside, p.Writable)
	config := landlock.MustConfig(landlock.AccessFSSet(llKnown), landlock.ScopedSet(ll.ScopeAbstractUnixSocket|ll.ScopeSignal))
	err = config.BestEffort().Restrict(
		landlock.PathAccess(llRead, "/"),
		landlock.PathAccess(llFile, "/dev"),
		landlock.PathAccess(ll.AccessFSReadFile|ll.AccessFSWriteFile|ll.AccessFSTruncate, "/proc"),
		landlock.PathAccess(llWrite, writable...),
		landlock.PathAccess(ll.AccessFSResolveUnix, p.Sockets...),
	)
	return lostWithout(confine.ABI()), err
}

// confine is what Config.Confine says. It names what could not be had.
func (c *Config) confine() (lost []string) {
	kept := confine.Kept{Trees: slices.Clone(c.Keep), Seen: []string{"/proc"}, Capabilities: confine.ServesFiles}
	for _, v := range c.views() {
		kept.Trees = append(kept.Trees, v.Root)
	}
	if err := confine.Process(kept); err != nil {
		lost = append(lost, "the process that serves the view keeps its rights: "+err.Error())
	}
	return lost
}

// SocketsRefused reports whether unix sockets of the host that lie in what is
// shown read-only, or as the home, refuse connections: a read-only mount alone
// does not make them (Landlock 9).
func SocketsRefused() bool { return confine.ABI() >= 9 }

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
