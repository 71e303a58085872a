package launcher

import (
	"slices"

	"golang.org/x/sys/unix"
)

// A set-user-id program that the command makes in a directory of the host, such
// as Config.Home, runs later with the rights of the user that started the run, for
// everybody who finds it. The mounts inside are nosuid, but that says nothing
// about the bits on the disk. The view never stores them (see sandboxfs); where
// the kernel writes to the host directly this filter refuses to set them.
//
// A mode is an argument of every call that takes one, but for openat2(2), whose
// mode lies in memory, where a filter cannot look: it is answered with ENOSYS,
// as on a kernel before 5.6, and programs fall back to openat(2). The bits are
// refused, not dropped: a filter that dropped them would have to say that a
// call was done which was not.
//
// File capabilities (setxattr(2) of security.capability) need CAP_SETFCAP, which
// nobody inside has. mkdir(2) takes no such bits from its mode.

// setIDBits are the bits of a mode that give away the owner's or group's rights.
const setIDBits = unix.S_ISUID | unix.S_ISGID

// creatingFlags are those of open(2) with which its mode counts; without them
// the argument may hold anything.
const creatingFlags = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// modeCall is a system call that sets the mode of a file.
type modeCall struct {
	nr    uint32
	mode  int8 // the argument with the mode
	flags int8 // the argument with open's flags, or none
}

// modeCalls are those of every architecture; legacyModeCalls follow.
var modeCalls = append([]modeCall{
	{nr: unix.SYS_OPENAT, mode: 3, flags: 2},
	{nr: unix.SYS_FCHMOD, mode: 1, flags: none},
	{nr: unix.SYS_FCHMODAT, mode: 2, flags: none},
	{nr: unix.SYS_FCHMODAT2, mode: 2, flags: none},
	{nr: unix.SYS_MKNODAT, mode: 2, flags: none},
}, legacyModeCalls...)

// writesHost reports whether something of the host's can be written other than
// through the view.
func (p *runPlan) writesHost() bool {
	return slices.ContainsFunc(p.Steps, func(s planStep) bool { return (s.Do == doBind || s.Do == doLayer) && s.Write })
}

// refuseSetID is the part of the filter that refuses to set setIDBits. It
// expects the call's number to be loaded, and leaves it so for the other calls.
func (p *program) refuseSetID() {
	for _, c := range modeCalls {
		p.when(c.nr, func() {
			refuse := func() {
				p.load(arg(uint32(c.mode)))
				p.where(unix.BPF_JSET, setIDBits, func() { p.ret(denyPerm) })
			}
			if c.flags == none {
				refuse()
			} else {
				p.load(arg(uint32(c.flags)))
				p.where(unix.BPF_JSET, creatingFlags, refuse)
			}
			p.ret(allow)
		})
	}
	p.when(unix.SYS_OPENAT2, func() { p.ret(denyAbsent) })
}
