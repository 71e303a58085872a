package launcher

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mountCalls change what is mounted where. Inside a nested user namespace
// they could not undo anything, since the mounts are locked there; refusing
// them outright keeps that much of the kernel out of reach.
var mountCalls = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	sysOpenTreeAttr,
}

// sysOpenTreeAttr is open_tree_attr(2), Linux 6.15, the same everywhere.
const sysOpenTreeAttr = 467

// refusedCalls get EPERM.
var refusedCalls = []uint32{
	// Opens a file by number, whatever path leads to it ("shocker").
	unix.SYS_OPEN_BY_HANDLE_AT,
	// Keys are the user's, and reach beyond the run.
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	// Kernel and machine: they need capabilities, which nested user
	// namespaces seem to give; a history of holes, and of no use here.
	unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_PERF_EVENT_OPEN, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE,
}

// absentCalls get ENOSYS, so that programs fall back. io_uring does what
// other system calls do, without passing this filter.
var absentCalls = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// refusedIoctls write into the terminal's input as if typed. Compared on the
// low 32 bits: the kernel ignores the others (CVE-2019-10063).
var refusedIoctls = []uint32{unix.TIOCSTI, tiocLinux}

const tiocLinux = 0x541C

// families are the kinds of socket that can be made. Others reach the
// hypervisor (vsock), raw hardware, or old kernel code.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// Offsets in struct seccomp_data; arguments are 64 bits, little-endian.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
)

// What a filter answers.
const (
	allow      = unix.SECCOMP_RET_ALLOW
	denyPerm   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	denyAbsent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	pretendYes = unix.SECCOMP_RET_ERRNO // errno 0: the call returns 0 and was not made
)

// program puts a filter together.
type program []unix.SockFilter

func (p *program) load(off uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off})
}

func (p *program) and(k uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: k})
}

func (p *program) ret(k uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k})
}

// where carries out what do adds only where the loaded value compares so with k.
func (p *program) where(cmp uint16, k uint32, do func()) {
	at := len(*p)
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | cmp, K: k})
	do()
	(*p)[at].Jf = uint8(len(*p) - at - 1)
}

// when carries out what do adds only where the loaded value is k.
func (p *program) when(k uint32, do func()) { p.where(unix.BPF_JEQ, k, do) }

// unless carries out what do adds only where the loaded value is not k.
func (p *program) unless(k uint32, do func()) {
	at := len(*p)
	p.when(k, do)
	(*p)[at].Jt, (*p)[at].Jf = (*p)[at].Jf, 0
}

// answer gives one answer where the loaded value is one of these.
func (p *program) answer(values []uint32, k uint32) {
	for _, v := range values {
		p.when(v, func() { p.ret(k) })
	}
}

// arg is the offset of the low half of an argument.
func arg(n uint32) uint32 { return offArg0 + 8*n }

// filter is the program that decides about each system call; writesHost says
// that something of the host's can be written other than through the view.
func filter(nested, writesHost bool) []unix.SockFilter {
	var p program
	// Another ABI has other numbers for the same calls: refused whole.
	p.load(offArch)
	p.unless(auditArch, func() { p.ret(denyAbsent) })
	p.load(offNumber)
	if foreignBit != 0 {
		p.where(unix.BPF_JGE, foreignBit, func() { p.ret(denyAbsent) })
	}
	if writesHost {
		p.refuseSetID()
	}
	p.answer(refusedCalls, denyPerm)
	p.answer(absentCalls, denyAbsent)
	if !nested {
		p.answer(mountCalls, denyPerm)
		p.refuseNamespaces()
		p.refuseNetlink()
		p.keepCoreLimit()
	}
	p.when(unix.SYS_IOCTL, func() {
		p.load(arg(1))
		p.answer(refusedIoctls, denyPerm)
		p.ret(allow)
	})
	p.when(unix.SYS_SOCKET, func() {
		p.load(arg(0))
		p.answer(families, allow)
		p.ret(unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT))
	})
	p.ret(allow)
	return p
}

// installFilter puts it on every thread. It needs no_new_privs.
func installFilter(prog []unix.SockFilter) error {
	fprog := &unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(fprog)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return errno
	}
	return nil
}
