//go:build linux

package launcher

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// decide runs the filter on one system call, as the kernel would.
func decide(t *testing.T, prog []unix.SockFilter, nr, arch uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data[offNumber:], nr)
	binary.LittleEndian.PutUint32(data[offArch:], arch)
	for i, a := range args {
		binary.LittleEndian.PutUint64(data[offArg0+8*i:], a)
	}
	var acc uint32
	for pc := 0; pc < len(prog); pc++ {
		in := prog[pc]
		yes := false
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = binary.LittleEndian.Uint32(data[in.K:])
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= in.K
			continue
		case unix.BPF_JMP | unix.BPF_JA:
			pc += int(in.K)
			continue
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ:
			yes = acc == in.K
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JGE:
			yes = acc >= in.K
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JSET:
			yes = acc&in.K != 0
		default:
			require.Failf(t, "unknown instruction", "%+v", in)
		}
		if yes {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	require.Fail(t, "the program ran off its end")
	return 0
}

func TestFilter(t *testing.T) {
	errno := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	const allow = unix.SECCOMP_RET_ALLOW
	prog, nested := filter(false, false), filter(true, false)
	for _, c := range []struct {
		what string
		want uint32
		nr   uint32
		args []uint64
	}{
		{"read", allow, unix.SYS_READ, nil},
		{"execve", allow, unix.SYS_EXECVE, nil},
		{"ptrace", allow, unix.SYS_PTRACE, nil},
		{"open_by_handle_at", errno(unix.EPERM), unix.SYS_OPEN_BY_HANDLE_AT, nil},
		{"mount", errno(unix.EPERM), unix.SYS_MOUNT, nil},
		{"io_uring_setup", errno(unix.ENOSYS), unix.SYS_IO_URING_SETUP, nil},
		{"TIOCSTI", errno(unix.EPERM), unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}},
		{"TIOCSTI with high bits", errno(unix.EPERM), unix.SYS_IOCTL, []uint64{0, 1<<32 | unix.TIOCSTI}},
		{"TIOCLINUX with high bits", errno(unix.EPERM), unix.SYS_IOCTL, []uint64{0, 1<<63 | tiocLinux}},
		{"TIOCGWINSZ", allow, unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}},
		{"inet", allow, unix.SYS_SOCKET, []uint64{unix.AF_INET}},
		{"inet6", allow, unix.SYS_SOCKET, []uint64{unix.AF_INET6}},
		{"unix", allow, unix.SYS_SOCKET, []uint64{unix.AF_UNIX}},
		{"netlink", allow, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}},
		{"netlink of netfilter", errno(unix.EPROTONOSUPPORT), unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}},
		{"netfilter's number, of inet", allow, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_RAW, unix.NETLINK_NETFILTER}},
		{"fork", allow, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}},
		{"thread", allow, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND | unix.CLONE_FILES}},
		{"clone in a user namespace", errno(unix.EPERM), unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}},
		{"clone in a network namespace, with high bits", errno(unix.EPERM), unix.SYS_CLONE, []uint64{1<<32 | unix.CLONE_NEWNET}},
		{"clone3", errno(unix.ENOSYS), unix.SYS_CLONE3, nil},
		{"unshare of files", allow, unix.SYS_UNSHARE, []uint64{unix.CLONE_FILES | unix.CLONE_FS}},
		{"unshare of users", errno(unix.EPERM), unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWUSER}},
		{"unshare of time", errno(unix.EPERM), unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWTIME}},
		{"setns", errno(unix.EPERM), unix.SYS_SETNS, nil},
		{"setrlimit of core", errno(0), unix.SYS_SETRLIMIT, []uint64{unix.RLIMIT_CORE, 1}},
		{"setrlimit of files", allow, unix.SYS_SETRLIMIT, []uint64{unix.RLIMIT_NOFILE, 1}},
		{"prlimit of core, to see it", allow, unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_CORE, 0, 1 << 40}},
		{"prlimit of core, to set it", errno(0), unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_CORE, 1 << 40, 0}},
		{"prlimit of core, both", errno(unix.EPERM), unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_CORE, 1 << 40, 1}},
		{"prlimit of files", allow, unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_NOFILE, 1, 1}},
		{"vsock", errno(unix.EAFNOSUPPORT), unix.SYS_SOCKET, []uint64{unix.AF_VSOCK}},
		{"packet", errno(unix.EAFNOSUPPORT), unix.SYS_SOCKET, []uint64{unix.AF_PACKET}},
	} {
		assert.Equal(t, c.want, decide(t, prog, c.nr, auditArch, c.args...), c.what)
	}
	assert.Equal(t, uint32(allow), decide(t, nested, unix.SYS_MOUNT, auditArch), "nested sandboxes mount")
	assert.Equal(t, uint32(allow), decide(t, nested, unix.SYS_UNSHARE, auditArch, unix.CLONE_NEWUSER), "and make namespaces")
	assert.Equal(t, uint32(allow), decide(t, nested, unix.SYS_CLONE3, auditArch))
	assert.Equal(t, errno(unix.EPERM), decide(t, nested, unix.SYS_OPEN_BY_HANDLE_AT, auditArch))
	assert.Equal(t, errno(unix.ENOSYS), decide(t, prog, unix.SYS_READ, unix.AUDIT_ARCH_I386), "another ABI")
	if foreignBit != 0 {
		assert.Equal(t, errno(unix.ENOSYS), decide(t, prog, foreignBit|unix.SYS_READ, auditArch), "x32")
	}
}

// The mode counts where the kernel looks at it, and nowhere else.
func TestSetIDFilter(t *testing.T) {
	const refused, absent = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	const allow = unix.SECCOMP_RET_ALLOW
	free := filter(false, false)
	for _, nested := range []bool{false, true} {
		prog := filter(nested, true)
		for _, c := range modeCalls {
			args := func(mode, flags uint64) []uint64 {
				a := make([]uint64, 6)
				a[c.mode] = mode
				if c.flags != none {
					a[c.flags] = flags
				}
				return a
			}
			for _, bits := range []uint64{0o4755, 0o2755, 0o6000, 1<<32 | 0o4700} {
				for _, flags := range []uint64{unix.O_CREAT, unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY, unix.O_TMPFILE | unix.O_RDWR, 1<<32 | unix.O_CREAT} {
					a := args(bits, flags)
					assert.Equal(t, refused, decide(t, prog, c.nr, auditArch, a...), "call %d %o", c.nr, a)
					assert.EqualValues(t, allow, decide(t, free, c.nr, auditArch, a...), "call %d %o where nothing of the host's is written", c.nr, a)
				}
			}
			assert.EqualValues(t, allow, decide(t, prog, c.nr, auditArch, args(0o1777, unix.O_CREAT)...), "call %d", c.nr)
			if c.flags != none {
				a := args(0o7777, unix.O_RDWR|unix.O_DIRECTORY)
				assert.EqualValues(t, allow, decide(t, prog, c.nr, auditArch, a...), "call %d makes nothing: its mode may be anything", c.nr)
			}
		}
		assert.Equal(t, absent, decide(t, prog, unix.SYS_OPENAT2, auditArch))
		assert.Equal(t, refused, decide(t, prog, unix.SYS_OPEN_BY_HANDLE_AT, auditArch), "what follows still holds")
		assert.EqualValues(t, allow, decide(t, prog, unix.SYS_READ, auditArch))
	}
	assert.EqualValues(t, allow, decide(t, free, unix.SYS_OPENAT2, auditArch))
}
