package launcher

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// initMain is process 1 inside: it enters the new root, gives up all rights,
// starts the command, and reaps until it has ended.
func initMain(cfg *childConfig) (code int) {
	defer func() {
		if r := recover(); r != nil {
			_ = send(fdInit, failure(fmt.Errorf("panic in init: %v\n%s", r, debug.Stack())), -1)
			code = ExitSetup
		}
	}()
	if err := dieWithParent(); err != nil {
		return ExitSetup
	}
	in := &initProcess{cfg: cfg, further: map[int]int{}}
	lost, err := in.enter()
	if errors.Is(err, io.EOF) {
		return ExitSetup // the set-up helper has failed, and said why
	}
	if err != nil {
		_ = send(fdInit, failure(err), -1)
		return ExitSetup
	}
	// With one P the thread that obeys would wait for the one that reaps, which among
	// thousands of processes waits for its own turn.
	runtime.GOMAXPROCS(4)
	warmThreads() // all of them restricted already: to restrict them one by one takes longer
	if err := in.start(); err != nil {
		var se *SetupError
		if errors.As(err, &se) {
			_ = send(fdInit, failure(err), -1)
			return ExitSetup
		}
		code, reason := startFailure(cfg.Plan.Command[0], err)
		_ = send(fdInit, message{Verb: sayExit, Code: code, Reason: reason, Lost: lost}, -1)
		return code
	}
	if err := send(fdInit, message{Verb: sayStarted, Lost: lost}, -1); err != nil {
		return ExitSetup
	}
	go func() { os.Exit(in.reap()) }()
	return in.obey()
}

type initProcess struct {
	cfg *childConfig
	pid int // of the command, and of its process group

	mu      sync.Mutex  // guards further, and that no process is reaped before it is noted there
	further map[int]int // process numbers of further commands, by their IDs

	ending atomic.Bool // all are killed, because the run is to end
}

// enter makes the new root the only one and takes every right away, also from
// process 1 itself. It names the guarantees that the kernel cannot give.
func (in *initProcess) enter() (lost []string, err error) {
	step := func(what string, err error) error { return &SetupError{Step: what, Err: err} }
	root, err := in.await(sayRoot)
	if err != nil {
		return nil, step("wait for the new root", err)
	}
	if err := unix.Fchdir(root); err != nil {
		return nil, step("enter the new root", err)
	}
	if in.cfg.Terminal {
		if err := in.terminal(); err != nil {
			return nil, step("get the terminal", err)
		}
	}
	lost, err = procMounts(&tree{fd: root, uid: -1, gid: -1}, in.cfg.Plan.Inner)
	if err != nil {
		return nil, err
	}
	// The old root is stacked on the new one and taken away with all mounts.
	if err := unix.PivotRoot(".", "."); err != nil {
		return nil, step("pivot_root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return nil, step("leave the host's root", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return nil, step("enter the new root", err)
	}
	unix.Close(root)
	// A session of its own: no way to the terminal outside (TIOCSTI).
	if _, err := unix.Setsid(); err != nil {
		return nil, step("start a session", err)
	}
	if in.cfg.Terminal {
		if err := unix.IoctlSetInt(fdSlave, unix.TIOCSCTTY, 0); err != nil {
			return nil, step("take the terminal", err)
		}
	}
	more, err := restrict(in.cfg.Plan)
	return append(lost, more...), err
}

// await gets a descriptor from the set-up helper.
func (in *initProcess) await(what verb) (fd int, err error) {
	m, fd, err := receive(fdParent, -1)
	if err == nil && (m.Verb != what || fd < 0) {
		err = fmt.Errorf("got %q", m.Verb)
	}
	return fd, err
}

// terminal puts the terminal where it and the streams are expected.
func (in *initProcess) terminal() error {
	slave, err := in.await(saySlave)
	if err != nil {
		return err
	}
	defer unix.Close(slave)
	for i, tty := range in.cfg.TTY {
		if tty {
			if err := unix.Dup3(slave, fdStdin+i, unix.O_CLOEXEC); err != nil {
				return err
			}
		}
	}
	return unix.Dup3(slave, fdSlave, unix.O_CLOEXEC)
}

// defaultSignals keeps process 1 alive whatever the command sends to it: the kernel
// drops what a process 1 has the default action for. It is not done by os/signal, for
// which the runtime changes threads twice a signal, nor are they ignored, which the
// command would inherit. From here on a fault of our own ends process 1 without a
// message, and with it everything inside.
func defaultSignals() {
	var action [4]uint64 // SIG_DFL, in the kernel's own form, on all machines
	for s := unix.Signal(1); s <= lastSignal; s++ {
		switch s {
		case unix.SIGKILL, unix.SIGSTOP, unix.SIGURG, signalOfRuntime:
			continue // what cannot be changed, and what the runtime sends to itself
		}
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, signalSetSize, 0, 0)
	}
}

const (
	lastSignal      = unix.Signal(64)
	signalOfRuntime = unix.Signal(33) // its handler does nothing unless the runtime waits for it
	signalSetSize   = 8               // of the kernel, in bytes
)

// start starts the command as process 2 in a process group of its own.
func (in *initProcess) start() error {
	p := in.cfg.Plan
	dir, err := unix.Open(p.Dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &SetupError{Step: fmt.Sprintf("enter the working directory %q", p.Dir), Err: err, Fix: "choose one that is visible inside"}
	}
	defer unix.Close(dir)
	program, err := find(p.Command[0], p.Dir, p.Env)
	if err != nil {
		return err
	}
	attr := &syscall.ProcAttr{
		Dir:   p.Dir,
		Env:   p.environ(),
		Files: []uintptr{fdStdin, fdStdout, fdStderr},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	}
	if in.cfg.Terminal {
		attr.Sys.Foreground, attr.Sys.Ctty = true, fdSlave
	}
	if p.Watch || p.Hear {
		if err := handOverWatch(p.Watch); err != nil && p.Watch {
			return &SetupError{Step: "install the filter that tells of refusals", Err: err}
		}
	}
	unix.Close(fdParent)
	defaultSignals()
	in.pid, err = syscall.ForkExec(program, p.Command, attr)
	if err != nil {
		return err
	}
	// From here on only the command and its children hold the streams, so
	// that their end is seen outside.
	for _, fd := range []int{fdStdin, fdStdout, fdStderr} {
		unix.Close(fd)
	}
	return nil
}

// errNotFound says that no directory of PATH holds the command.
var errNotFound = errors.New("not found in PATH")

// find looks the program up in PATH, as execvp(3) does: a file that exists
// but cannot be executed counts only when no other one can.
func find(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var denied error
	for _, d := range strings.Split(pathOf(env), ":") {
		if !path.IsAbs(d) {
			d = path.Join(dir, d)
		}
		p := path.Join(d, name)
		var st unix.Stat_t
		if unix.Stat(p, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		if err := unix.Faccessat(unix.AT_FDCWD, p, unix.X_OK, 0); err != nil {
			denied = err
			continue
		}
		return p, nil
	}
	if denied != nil {
		return "", denied
	}
	return "", errNotFound
}

func pathOf(env []string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			return v
		}
	}
	return ""
}

// startFailure turns the error of a start into the shell's exit code.
func startFailure(name string, err error) (code int, reason string) {
	switch {
	case errors.Is(err, errNotFound), errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return ExitNotFound, fmt.Sprintf("command %q not found inside: %v", name, err)
	}
	return ExitNotExecutable, fmt.Sprintf("command %q cannot be executed: %v", name, err)
}

// handOverWatch has the set-up helper hear of what the command, which this thread is
// about to start, is going to change. It is the last thing that happens before.
// With changes unset it is only to hear when a program begins to use inotify(7).
func handOverWatch(changes bool) error {
	listener, err := installWatch(watchFilter(changes))
	if err != nil {
		return err
	}
	defer unix.Close(listener)
	return send(fdParent, message{Verb: sayWatch}, listener)
}

// obey does what the supervisor says. When the supervisor is gone so is
// process 1, and with it everything inside.
//
// It runs on the thread that started the command: Landlock gives each thread
// a domain of its own, and signals pass only within one.
func (in *initProcess) obey() int {
	runSoon()
	for {
		m, attached, err := receive(fdInit, -1)
		if err != nil {
			return exitSignal + int(unix.SIGKILL)
		}
		switch m.Verb {
		case sayExec:
			in.exec(m.ID, attached)
		case saySignal:
			if m.ID != 0 {
				in.signalFurther(m.ID, m.Signal)
				break
			}
			_ = unix.Kill(in.target(m.Group), m.Signal)
		case sayCont:
			_ = unix.Kill(-in.pid, unix.SIGCONT)
		case sayEnd:
			// All but process 1, at one blow, whatever they fork meanwhile.
			in.ending.Store(true)
			_ = unix.Kill(-1, unix.SIGKILL)
		}
	}
}

// threads is how many process 1 may need at once: those that run, and those that
// wait for a child, for the supervisor, for signals, and the runtime's own.
const threads = 8

// warmThreads has the runtime make its threads before the command can use up the
// process numbers: without one it ends this process, and with it everything
// inside. It keeps threads that have nothing to do. They have to be there before the
// command is: on a busy machine that is sometimes faster.
func warmThreads() {
	var made sync.WaitGroup
	done := make(chan struct{})
	for range threads {
		made.Add(1)
		go func() {
			runtime.LockOSThread() // each waits on a thread of its own
			made.Done()
			<-done
			runtime.UnlockOSThread()
		}()
	}
	made.Wait()
	close(done)
}

// runSoon has the kernel run this thread soon after it is woken, also among
// thousands that are always ready: it asks for short turns, and so gets them
// early (Linux 6.12). Children do not inherit it. Where it cannot be had, the
// end of a storm of processes takes longer.
func runSoon() {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return
	}
	attr.Runtime = uint64(shortTurn)
	attr.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
	_ = unix.SchedSetAttr(0, attr, 0)
}

const shortTurn = 100 * time.Microsecond // the kernel's least

// target is the command, or minus the group that a key on the terminal would
// have reached.
func (in *initProcess) target(group bool) int {
	if !group {
		return in.pid
	}
	if in.cfg.Terminal {
		if fg, err := unix.IoctlGetInt(fdSlave, unix.TIOCGPGRP); err == nil && fg > 1 {
			return -fg
		}
	}
	return -in.pid
}

// reap collects ended processes, reports the command's end, and returns when
// nothing is left to wait for.
func (in *initProcess) reap() int {
	code := 0
	for {
		// Not reaped yet: what is reaped while a further command is being started could
		// give its number to another process before it is noted whose it is.
		if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil); err != nil && err != unix.EINTR {
			return code // ECHILD
		}
		var status unix.WaitStatus
		in.mu.Lock()
		pid, err := unix.Wait4(-1, &status, unix.WUNTRACED|unix.WNOHANG, nil)
		id := in.ended(pid, status)
		in.mu.Unlock()
		switch {
		case err != nil || pid == 0: // a start that failed has reaped its own
		case id != 0:
			m := exitMessage(id, status)
			if m.Signal == unix.SIGKILL && in.ending.Load() {
				m.Reason = runEnded
			}
			_ = send(fdInit, m, -1)
		case pid != in.pid:
		case status.Stopped():
			_ = send(fdInit, message{Verb: sayStopped, Signal: status.StopSignal()}, -1)
		default:
			m := exitMessage(0, status)
			code = m.Code
			_ = send(fdInit, m, -1)
			if !in.cfg.Plan.WaitBackground {
				return code
			}
		}
	}
}

// exitMessage says how a command ended.
func exitMessage(id int, status unix.WaitStatus) message {
	m := message{Verb: sayExit, ID: id, Code: status.ExitStatus()}
	if status.Signaled() {
		m.Signal = status.Signal()
		m.Code = exitSignal + int(m.Signal)
	}
	return m
}
