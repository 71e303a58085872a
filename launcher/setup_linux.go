package launcher

import (
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// setupMain builds the file system, starts init, and then keeps watch: when
// the supervisor dies or hangs, everything inside ends.
func setupMain(cfg *childConfig) (code int) {
	defer func() {
		if r := recover(); r != nil {
			_ = send(fdSetup, failure(fmt.Errorf("panic in the set-up helper: %v\n%s", r, debug.Stack())), -1)
			code = ExitSetup
		}
	}()
	if err := dieWithParent(); err != nil {
		return ExitSetup
	}
	if cfg.Grouped {
		if m, _, err := receive(fdSetup, -1); err != nil || m.Verb != sayGo {
			return ExitSetup
		}
	}
	k := &setupHelper{cfg: cfg}
	if err := k.setUp(); err != nil {
		_ = send(fdSetup, failure(err), -1)
		return ExitSetup
	}
	if t := cfg.Plan.Time; t > 0 {
		time.AfterFunc(t, k.timeOver)
	}
	go k.watch()
	return k.wait()
}

// dieWithParent has the kernel kill this process when its parent dies, even by
// kill -9. From the supervisor it reaches every process inside: the set-up helper
// dies with the supervisor, init with the helper, and the rest with init, which
// is process 1 of their namespace. The supervisor's descriptors of the view close
// with it, which ends the view's connections.
//
// A parent that died before this call has closed its end of the channel, so the
// first receive fails.
func dieWithParent() error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// setupHelper is the process that builds what the command sees.
type setupHelper struct {
	cfg     *childConfig
	view    viewMounter
	init    int
	root    *tree    // what the command sees
	spare   int      // a directory of it that nobody sees
	watcher *watcher // nil where nobody wants to know
	told    *os.File // what it tells goes here; nil where only inotify(7) is of interest
}

func (k *setupHelper) setUp() error {
	self, err := unix.Open("/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &SetupError{Step: "open /proc", Err: err, Fix: "mount /proc"}
	}
	dev, err := unix.Open("/dev", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &SetupError{Step: "open /dev", Err: err}
	}
	k.view = viewMounter{cfg: k.cfg, self: self, dev: dev, tops: map[int]int{}, shown: map[[2]int]int{}}
	if k.cfg.Plan.Watch || k.cfg.Plan.Hear {
		if k.watcher, err = newWatcher(k.cfg.Plan.Root); err != nil {
			return &SetupError{Step: "look at the host", Err: err}
		}
	}
	// Init's runtime starts while the file system is built.
	toInit, err := k.startInit()
	if err != nil {
		return err
	}
	if g := k.cfg.Plan.Gateway; g != nil {
		if err := k.network(g); err != nil {
			return err
		}
	}
	root, lost, err := build(k.cfg.Plan, k.view.mount)
	if err != nil {
		return err
	}
	k.root = root
	if k.spare, err = root.open(spareDir); err != nil { // while /proc is not mounted over it
		return err
	}
	if len(lost) > 0 {
		if err := send(fdSetup, message{Verb: sayLost, Lost: lost}, -1); err != nil {
			return err
		}
	}
	slave := -1
	if k.cfg.Terminal {
		if slave, err = k.terminal(root); err != nil {
			return &SetupError{Step: "make the terminal", Err: err}
		}
		defer unix.Close(slave)
	}
	if k.watcher != nil {
		if k.cfg.Plan.Watch {
			if err := unix.SetNonblock(fdAttempts, true); err != nil {
				return err
			}
			k.told = os.NewFile(fdAttempts, "attempts")
		}
		k.watcher.start(k.view.written(), toInit, k.told, func() { _ = unix.Kill(k.init, unix.SIGKILL) })
	}
	if err := send(toInit, message{Verb: sayRoot}, root.fd); err != nil {
		return &SetupError{Step: "hand over the new root", Err: err}
	}
	if slave >= 0 {
		if err := send(toInit, message{Verb: saySlave}, slave); err != nil {
			return &SetupError{Step: "hand over the terminal", Err: err}
		}
	}
	return nil
}

// startInit starts init as process 1 of a new process namespace. It waits for
// the new root on the channel whose other end startInit returns, and ends
// where that is closed.
func (k *setupHelper) startInit() (channel int, err error) {
	ours, theirs, err := channelPair()
	if err != nil {
		return -1, err
	}
	defer unix.Close(theirs)
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return -1, &SetupError{Step: "open /dev/null", Err: err}
	}
	defer null.Close()
	files := make([]uintptr, fdsToInit)
	for i := range files {
		files[i] = null.Fd()
	}
	for _, fd := range []uintptr{fdConfig, fdInit, fdStdin, fdStdout, fdStderr} {
		files[fd] = fd
	}
	files[fdParent] = uintptr(theirs)
	pid, err := syscall.ForkExec("/proc/self/exe", []string{initName}, &syscall.ProcAttr{
		Env:   childEnv,
		Files: files,
		Sys:   &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID},
	})
	if err != nil {
		return -1, &SetupError{Step: "start process 1", Err: err, Fix: "check /proc/sys/user/max_pid_namespaces"}
	}
	k.init = pid
	// Only init keeps the other ends: their end is the command's end.
	for _, fd := range []int{fdInit, fdStdin, fdStdout, fdStderr} {
		unix.Close(fd)
	}
	return ours, nil
}

// childEnv is the environment of the set-up helper and of init. One P is enough for what
// happens one after the other; with more the runtime wakes threads that look for work.
var childEnv = []string{"GOMAXPROCS=1", "GOGC=off", limitsUnread}

// limitsUnread keeps the runtime from reading all mounts for a limit on processors, which
// GOMAXPROCS overrules.
const limitsUnread = "GODEBUG=containermaxprocs=0,updatemaxprocs=0"

// watch returns never: it ends everything when the supervisor says nothing
// for too long, or is gone.
func (k *setupHelper) watch() {
	for {
		m, attached, err := receive(fdSetup, k.view.patience())
		if err != nil {
			// First end the connection, or those who wait in it could not
			// even be killed.
			k.view.abort()
			_ = unix.Kill(k.init, unix.SIGKILL)
			if err != io.EOF {
				_ = send(fdSetup, message{Verb: sayHung}, -1)
			}
			return
		}
		k.view.paused = m.Verb == sayPause
		switch {
		case m.Verb == sayMount || m.Verb == sayShow:
			_ = send(fdSetup, k.change(m, attached), -1) // a supervisor that is gone is seen above
		case m.Verb == sayRepeat && attached >= 0 && k.watcher != nil:
			go k.repeat(attached)
		}
	}
}

// timeOver ends everything inside where the supervisor has not: it is suspended.
func (k *setupHelper) timeOver() {
	_ = send(fdSetup, message{Verb: sayTime}, -1)
	k.view.abort()
	_ = unix.Kill(k.init, unix.SIGKILL)
}

// change changes what the command sees, and says how that went.
func (k *setupHelper) change(m message, attached int) message {
	var err error
	if m.Verb == sayMount {
		if err = k.view.add(m); err == nil && k.watcher != nil {
			k.watcher.write(string(m.Path))
		}
	} else {
		err = k.show(attached)
	}
	done := message{Verb: sayDone}
	if err != nil {
		done = failure(err)
		done.Verb = sayDone
	}
	if attached >= 0 {
		unix.Close(attached)
	}
	return done
}

// show lays new content over files of the plan. A program that has one open keeps
// what was there before.
func (k *setupHelper) show(content int) error {
	var files map[string][]byte
	if err := readSealed(content, &files); err != nil {
		return err
	}
	// A copy can be made of a mount that stands somewhere, on every kernel.
	fd, err := newMount("tmpfs", attrQuiet, "mode=0755", "size=16m")
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.MoveMount(fd, "", k.spare, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return err
	}
	fresh := tree{fd: fd, uid: -1, gid: -1}
	for i, at := range slices.Sorted(maps.Keys(files)) {
		if !k.cfg.Plan.shows(at) {
			return fmt.Errorf("%q is no file of this run", at)
		}
		name := strconv.Itoa(i)
		if err := fresh.file("/"+name, 0o444, files[at]); err != nil {
			return err
		}
		over, err := clone(fd, name, attrReadOnly, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			err = k.root.attach(over, at)
		}
		if err != nil {
			return fmt.Errorf("show %q: %w", at, err)
		}
	}
	return nil
}

// wait waits for init, and with it for everything inside.
func (k *setupHelper) wait() int {
	if k.told != nil {
		defer func() {
			// A supervisor that hangs does not keep us.
			_ = k.told.SetWriteDeadline(time.Now().Add(time.Duration(k.cfg.Plan.HangMillis) * time.Millisecond))
			k.watcher.flush(true)
		}()
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(k.init, &status, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || !status.Exited() {
			return ExitSetup
		}
		return status.ExitStatus()
	}
}

// terminal opens a pseudo-terminal of the new root's own devpts, sends its
// master to the supervisor, and returns its other side, which the caller closes.
func (k *setupHelper) terminal(root *tree) (slave int, err error) {
	ptmx, err := root.open("/dev/pts/ptmx")
	if err != nil {
		return -1, err
	}
	defer unix.Close(ptmx)
	master, err := unix.Open("/proc/self/fd/"+strconv.Itoa(ptmx), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(master)
	if slave, err = openSlave(master, k.cfg.Size, k.cfg.Cooked); err != nil {
		return -1, err
	}
	if id := k.cfg.Plan.ID; err == nil && id.UID != os.Geteuid() {
		err = unix.Fchown(slave, id.UID, id.GID)
	}
	if err == nil {
		err = send(fdSetup, message{Verb: sayMaster}, master)
	}
	if err != nil {
		unix.Close(slave)
		return -1, err
	}
	return slave, nil
}
