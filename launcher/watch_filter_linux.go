package launcher

import (
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// writingFlags are those of open(2) that may change something.
const writingFlags = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC

// inotifyCalls begin the use of inotify(7) and fanotify(7).
var inotifyCalls = append([]uint32{unix.SYS_INOTIFY_INIT1, unix.SYS_FANOTIFY_INIT}, legacyInotify...)

// watchFilter hands inotifyCalls to the listener, and with changes each call of
// the list, openat and open only where their flags say that they may write.
func watchFilter(changes bool) []unix.SockFilter {
	var p program
	p.load(offArch)
	p.unless(auditArch, func() { p.ret(allow) }) // refused by the other filter
	p.load(offNumber)
	for _, nr := range inotifyCalls {
		p.when(nr, func() { p.ret(unix.SECCOMP_RET_USER_NOTIF) })
	}
	if !changes {
		p.ret(allow)
		return p
	}
	for _, c := range watchedCalls {
		p.when(c.nr, func() {
			if c.does == doesOpen && c.flags != none && c.nr != unix.SYS_OPENAT2 {
				p.load(arg(uint32(c.flags)))
				p.and(writingFlags)
				p.when(0, func() { p.ret(allow) })
			}
			p.ret(unix.SECCOMP_RET_USER_NOTIF)
		})
	}
	p.ret(allow)
	return p
}

// installWatch puts the filter on this thread, which starts the command, and
// returns the descriptor that hears of the calls. It needs no_new_privs.
func installWatch(prog []unix.SockFilter) (listener int, err error) {
	fprog := &unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	// A call that has been heard of is not begun again at each signal
	// (Linux 5.19).
	for _, flags := range []uintptr{
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
	} {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(fprog)))
		runtime.KeepAlive(prog)
		if errno == 0 {
			return int(fd), nil
		}
		if err = errno; errno != unix.EINVAL {
			break
		}
	}
	return -1, err
}

// CanWatch reports whether Config.OnRefusal can be served here. It cannot be
// in a process that is watched by such a filter itself (a run inside a run, and
// some containers), nor where the set-up helper may not read the command's memory.
func CanWatch() bool {
	if os.Geteuid() == 0 && privileged() && !capable(unix.CAP_SYS_PTRACE) {
		return false
	}
	if strings.TrimSpace(sysctl("kernel/yama/ptrace_scope")) == "3" {
		return false
	}
	// Tried on a thread that ends with it: the filter and no_new_privs are a
	// thread's.
	can := make(chan bool)
	go func() {
		runtime.LockOSThread()
		if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
			can <- false
			return
		}
		fd, err := installWatch([]unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: allow}})
		if err == nil {
			unix.Close(fd)
		}
		can <- err == nil
	}()
	return <-can
}
