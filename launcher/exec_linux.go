package launcher

import (
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A further command is started by process 1, as the first one was, from the same thread:
// so it is born with the same root, without capabilities, under the same Landlock domain
// and filters, and there is no moment at which it has more. Nobody enters the namespaces
// from outside, where a process inside could trace the one that enters, or reach the
// host through its descriptors, its directory or its program, before it is confined
// (CVE-2016-9962, CVE-2019-5736, CVE-2024-21626). Process 1 is not dumpable, and so is the
// child until it executes: nothing inside can trace it or open its /proc/PID/{fd,cwd,exe}.
// No descriptor goes in but a sealed file with the words below, which is closed before
// the start; pipes and the terminal are made inside, and our ends come out.

// execRequest is what a further command is started with.
type execRequest struct {
	Command []string
	Env     []string // beside the first command's own
	Kinds   [3]kind  // of its streams
	Same    bool     // stderr goes where stdout goes
	Cooked  bool     // as in childConfig
	Size    unix.Winsize
}

// exec starts a further command, and says how that went. It runs on the thread that
// started the first one. While the program is opened (which a rule may let wait for an
// approval) process 1 obeys nothing else; the supervisor ends it, if it has to, from
// outside.
func (in *initProcess) exec(id, request int) {
	in.mu.Lock() // its end is told after its start
	defer in.mu.Unlock()
	name, ends, err := in.startFurther(id, request)
	defer ends.close()
	if err != nil {
		code, reason := startFailure(name, err)
		_ = send(fdInit, message{Verb: sayExit, ID: id, Code: code, Reason: reason}, -1)
		return
	}
	for i, fd := range ends.ours {
		if fd >= 0 {
			_ = send(fdInit, message{Verb: sayStream, ID: id, Stream: i}, fd)
		}
	}
	if ends.master >= 0 {
		_ = send(fdInit, message{Verb: sayMaster, ID: id}, ends.master)
	}
	_ = send(fdInit, message{Verb: sayStarted, ID: id}, -1)
}

// startFurther starts it. mu is held. The caller closes the ends, whatever came of it.
func (in *initProcess) startFurther(id, request int) (name string, ends *execEnds, err error) {
	ends = &execEnds{master: -1, ours: [3]int{-1, -1, -1}, theirs: [3]int{-1, -1, -1}}
	var r execRequest
	err = readSealed(request, &r)
	unix.Close(request)
	if err == nil && len(r.Command) == 0 {
		err = unix.EINVAL
	}
	if err != nil {
		return "", ends, err
	}
	name = r.Command[0]
	if err := ends.open(&r); err != nil {
		return name, ends, err
	}
	p := in.cfg.Plan
	env := slices.DeleteFunc(p.environ(), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(r.Env, func(added string) bool { return strings.HasPrefix(added, k+"=") })
	})
	env = append(env, r.Env...)
	program, err := find(name, p.Dir, env)
	if err != nil {
		return name, ends, err
	}
	attr := &syscall.ProcAttr{Dir: p.Dir, Env: env, Sys: &syscall.SysProcAttr{Setsid: true}}
	for i, fd := range ends.theirs {
		attr.Files = append(attr.Files, uintptr(fd))
		if r.Kinds[i] == kindTerminal && !attr.Sys.Setctty {
			attr.Sys.Setctty, attr.Sys.Ctty = true, i
		}
	}
	pid, err := syscall.ForkExec(program, r.Command, attr)
	if err == nil {
		in.further[id] = pid
	}
	return name, ends, err
}

// execEnds are the two ends of a further command's streams.
type execEnds struct {
	ours   [3]int // of pipes; -1 for others
	theirs [3]int
	master int // of the terminal, or -1
	opened []int
}

// open makes the streams inside, where they belong to the command's user.
func (e *execEnds) open(r *execRequest) error {
	open := func(path string, flags int) (int, error) {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
		if err == nil {
			e.opened = append(e.opened, fd)
		}
		return fd, err
	}
	slave := -1
	if slices.Contains(r.Kinds[:], kindTerminal) {
		var err error
		if e.master, err = open("/dev/pts/ptmx", unix.O_RDWR|unix.O_NOCTTY); err != nil {
			return err
		}
		if slave, err = openSlave(e.master, r.Size, r.Cooked); err != nil {
			return err
		}
		e.opened = append(e.opened, slave)
	}
	for i, k := range r.Kinds {
		switch {
		case k == kindTerminal:
			e.theirs[i] = slave
		case k == kindNull:
			fd, err := open("/dev/null", unix.O_RDWR)
			if err != nil {
				return err
			}
			e.theirs[i] = fd
		case i == 2 && r.Same:
			e.theirs[2] = e.theirs[1]
		default:
			var p [2]int
			if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
				return err
			}
			e.opened = append(e.opened, p[0], p[1])
			e.ours[i], e.theirs[i] = p[0], p[1]
			if i == 0 {
				e.ours[0], e.theirs[0] = p[1], p[0]
			}
		}
	}
	return nil
}

// close closes both ends: the command has its own by now, and so has the caller.
func (e *execEnds) close() {
	for _, fd := range e.opened {
		unix.Close(fd)
	}
}

// ended returns the ID of a further command that has ended, or 0. mu is held.
func (in *initProcess) ended(pid int, status unix.WaitStatus) (id int) {
	if pid <= 0 || status.Stopped() {
		return 0
	}
	for id, its := range in.further {
		if its == pid {
			delete(in.further, id)
			return id
		}
	}
	return 0
}

// signalFurther sends a signal to a further command's process group. SIGHUP continues it
// too: what is stopped would never learn that its caller is gone.
func (in *initProcess) signalFurther(id int, sig syscall.Signal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if pid := in.further[id]; pid > 0 {
		_ = unix.Kill(-pid, sig)
		if sig == unix.SIGHUP || sig == unix.SIGTERM {
			_ = unix.Kill(-pid, unix.SIGCONT)
		}
	}
}
