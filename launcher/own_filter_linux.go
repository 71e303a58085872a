package launcher

import (
	"golang.org/x/sys/unix"
)

// What follows keeps kernel code out of reach that a command rarely needs and
// that has a history of holes: namespaces, in which an ordinary user has every
// capability, and the families of netlink but for routes. Config.Nested leaves
// it out. Each part expects the call's number to be loaded, and leaves it so.

// cloneNamespaces are all that clone(2) and unshare(2) make. CLONE_NEWTIME is
// unshare's only: in clone(2) the low byte is a signal.
const (
	cloneNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	unshareNamespaces = cloneNamespaces | unix.CLONE_NEWTIME
)

// refuseNamespaces: the flags of clone3(2) lie in memory, where a filter cannot
// look; it is answered as by a kernel before 5.3, and libraries use clone(2).
func (p *program) refuseNamespaces() {
	for _, c := range []struct{ nr, flags uint32 }{{unix.SYS_CLONE, cloneNamespaces}, {unix.SYS_UNSHARE, unshareNamespaces}} {
		p.when(c.nr, func() {
			p.load(arg(0))
			p.and(c.flags)
			p.unless(0, func() { p.ret(denyPerm) })
			p.ret(allow)
		})
	}
	p.when(unix.SYS_CLONE3, func() { p.ret(denyAbsent) })
	p.when(unix.SYS_SETNS, func() { p.ret(denyPerm) })
}

// refuseNetlink leaves the family that getaddrinfo(3) and getifaddrs(3) need.
// EPROTONOSUPPORT is what a kernel without the others says, and what programs
// expect.
func (p *program) refuseNetlink() {
	p.when(unix.SYS_SOCKET, func() {
		p.load(arg(0))
		p.when(unix.AF_NETLINK, func() {
			p.load(arg(2)) // NETLINK_ROUTE is 0
			p.unless(0, func() { p.ret(unix.SECCOMP_RET_ERRNO | uint32(unix.EPROTONOSUPPORT)) })
		})
		p.load(offNumber)
	})
}

// keepCoreLimit keeps RLIMIT_CORE as noCoreDumps has set it. Programs that turn
// dumps off are told that this was done, which it was, and before; those that
// turn them on are told so too, for a filter cannot see which.
func (p *program) keepCoreLimit() {
	p.when(unix.SYS_SETRLIMIT, func() {
		p.load(arg(0))
		p.when(unix.RLIMIT_CORE, func() { p.ret(pretendYes) })
		p.load(offNumber)
	})
	p.when(unix.SYS_PRLIMIT64, func() {
		p.load(arg(1))
		p.when(unix.RLIMIT_CORE, func() {
			for _, half := range []uint32{arg(3), arg(3) + 4} { // asked what it was
				p.load(half)
				p.unless(0, func() { // and told to change it
					for _, half := range []uint32{arg(2), arg(2) + 4} {
						p.load(half)
						p.unless(0, func() { p.ret(denyPerm) })
					}
					p.ret(allow)
				})
			}
			p.ret(pretendYes)
		})
		p.load(offNumber)
	})
}

// noCoreDumps: a dump of a process inside is written by the host's kernel, or
// by a program of the host's that core_pattern names and that runs as root. A
// limit of 0 keeps the file from being written, but not that program from being
// started; 1 does both (core(5), and do_coredump in the kernel, which takes 1
// for a dump of that program itself).
func noCoreDumps() error {
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1})
}
