package launcher

import (
	"runtime"
	"slices"
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
	offArg1   = 24
)

// filter is the program that decides about each system call; writesHost says
// that something of the host's can be written other than through the view.
func filter(nested, writesHost bool) []unix.SockFilter {
	var prog []unix.SockFilter
	stmt := func(code uint16, k uint32) { prog = append(prog, unix.SockFilter{Code: code, K: k}) }
	load := func(off uint32) { stmt(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, off) }
	ret := func(errno uint32) { stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|errno) }
	allow := func() { stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW) }
	// jump skips so many instructions if the comparison with k holds or not.
	jump := func(cmp uint16, k uint32, yes, no int) {
		prog = append(prog, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | cmp, K: k, Jt: uint8(yes), Jf: uint8(no)})
	}
	refuse := func(calls []uint32, errno uint32) {
		for _, nr := range calls {
			jump(unix.BPF_JEQ, nr, 0, 1)
			ret(errno)
		}
	}
	// Another ABI has other numbers for the same calls: refused whole.
	load(offArch)
	jump(unix.BPF_JEQ, auditArch, 1, 0)
	ret(uint32(unix.ENOSYS))
	load(offNumber)
	if foreignBit != 0 {
		jump(unix.BPF_JGE, foreignBit, 0, 1)
		ret(uint32(unix.ENOSYS))
	}
	if writesHost {
		prog = append(prog, refuseSetID()...)
	}
	refuse(refusedCalls, uint32(unix.EPERM))
	refuse(absentCalls, uint32(unix.ENOSYS))
	if !nested {
		refuse(mountCalls, uint32(unix.EPERM))
		prog = append(prog, slices.Concat(refuseNamespaces(), refuseNetlink(), keepCoreLimit())...)
	}
	jump(unix.BPF_JEQ, unix.SYS_IOCTL, 0, 2+2*len(refusedIoctls))
	load(offArg1)
	refuse(refusedIoctls, uint32(unix.EPERM))
	allow()

	jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 2+len(families))
	load(offArg0)
	for i, f := range families {
		jump(unix.BPF_JEQ, f, len(families)-i, 0)
	}
	ret(uint32(unix.EAFNOSUPPORT))
	allow()
	return prog
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
