package launcher

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeperMain builds the file system, starts init, and then keeps watch: when
// the supervisor dies or hangs, everything inside ends.
func keeperMain(cfg *childConfig) (code int) {
	defer func() {
		if r := recover(); r != nil {
			_ = send(fdKeeper, failure(fmt.Errorf("panic in the keeper: %v\n%s", r, debug.Stack())), -1)
			code = ExitSetup
		}
	}()
	if err := dieWith(); err != nil {
		return ExitSetup
	}
	k := &keeper{cfg: cfg, slave: -1}
	if err := k.setUp(); err != nil {
		_ = send(fdKeeper, failure(err), -1)
		return ExitSetup
	}
	go k.watch()
	return k.wait()
}

// dieWith ties this process to its parent's life. The parent may have died
// before; then its end of the channel is closed, which the first receive says.
func dieWith() error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

type keeper struct {
	cfg     *childConfig
	view    viewMounter
	slave   int
	init    int
	watcher *watcher // nil where nobody wants to know
	told    *os.File // what it tells goes here
}

func (k *keeper) setUp() error {
	self, err := unix.Open("/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &SetupError{Step: "open /proc", Err: err, Fix: "mount /proc"}
	}
	k.view = viewMounter{cfg: k.cfg, self: self}
	proc, err := unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &SetupError{Step: "open /proc", Err: err, Fix: "mount /proc"}
	}
	root, lost, err := build(k.cfg.Plan, k.view.mount)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		if err := send(fdKeeper, message{Verb: sayLost, Lost: lost}, -1); err != nil {
			return err
		}
	}
	if k.cfg.Plan.Watch {
		if err := unix.SetNonblock(fdWatch, true); err != nil {
			return err
		}
		k.told = os.NewFile(fdWatch, "attempts")
		k.watcher = newWatcher(k.cfg.Plan.Root, k.view.written(), proc, k.told)
	}
	if k.cfg.Terminal {
		if err := k.terminal(root); err != nil {
			return &SetupError{Step: "make the terminal", Err: err}
		}
	}
	return k.startInit(root)
}

// startInit starts init as process 1 of a new process namespace, with the new
// root as its working directory, for pivot_root.
func (k *keeper) startInit(root *tree) error {
	if err := unix.Fchdir(root.fd); err != nil {
		return &SetupError{Step: "enter the new root", Err: err}
	}
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return &SetupError{Step: "open /dev/null", Err: err}
	}
	defer null.Close()
	files := make([]uintptr, fdsToInit)
	for i := range files {
		files[i] = null.Fd()
	}
	for _, fd := range []uintptr{fdConfig, fdInit, fdStdin, fdStdout, fdStderr} {
		files[fd] = fd
	}
	if k.watcher != nil {
		from, to, err := channelPair()
		if err != nil {
			return err
		}
		defer unix.Close(to)
		files[fdWatch] = uintptr(to)
		go k.watcher.serve(from)
	}
	if k.slave >= 0 {
		files[fdSlave] = uintptr(k.slave)
		for i, tty := range k.cfg.TTY {
			if tty {
				files[fdStdin+i] = uintptr(k.slave)
			}
		}
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{initName}, &syscall.ProcAttr{
		Env:   childEnv,
		Files: files,
		Sys:   &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID},
	})
	if err != nil {
		return &SetupError{Step: "start process 1", Err: err, Fix: "check /proc/sys/user/max_pid_namespaces"}
	}
	k.init = pid
	// Only init keeps the other ends: their end is the command's end.
	for _, fd := range []int{fdInit, fdStdin, fdStdout, fdStderr, k.slave} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	return nil
}

// childEnv is the environment of keeper and init themselves.
var childEnv = []string{"GOMAXPROCS=1", "GOGC=off"}

// watch returns never: it ends everything when the supervisor says nothing
// for too long, or is gone.
func (k *keeper) watch() {
	millis := int(k.cfg.Plan.HangMillis)
	timeout := millis
	for {
		m, _, err := receive(fdKeeper, timeout)
		switch {
		case err == nil && m.Verb == sayPause:
			timeout = -1
		case err == nil:
			timeout = millis
		default:
			// First end the connection, or those who wait in it could not
			// even be killed.
			k.view.abort()
			_ = unix.Kill(k.init, unix.SIGKILL)
			if err != io.EOF {
				_ = send(fdKeeper, message{Verb: sayHung}, -1)
			}
			return
		}
	}
}

// wait waits for init, and with it for everything inside.
func (k *keeper) wait() int {
	if k.watcher != nil {
		defer func() {
			// A supervisor that hangs does not keep us.
			_ = k.told.SetWriteDeadline(time.Now().Add(time.Duration(k.cfg.Plan.HangMillis) * time.Millisecond))
			k.watcher.flush()
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

// terminal opens a pseudo-terminal of the new root's own devpts and sends its
// master to the supervisor.
func (k *keeper) terminal(root *tree) error {
	ptmx, err := root.open("/dev/pts/ptmx")
	if err != nil {
		return err
	}
	defer unix.Close(ptmx)
	master, err := unix.Open("/proc/self/fd/"+strconv.Itoa(ptmx), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(master)
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	// TIOCGPTPEER opens the other side without a path.
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return errno
	}
	k.slave = int(slave)
	if err := unix.IoctlSetWinsize(k.slave, unix.TIOCSWINSZ, &k.cfg.Size); err != nil {
		return err
	}
	if k.cfg.Cooked {
		if err := noOutputProcessing(k.slave); err != nil {
			return err
		}
	}
	if id := k.cfg.Plan.ID; id.UID != os.Geteuid() {
		if err := unix.Fchown(k.slave, id.UID, id.GID); err != nil {
			return err
		}
	}
	return send(fdKeeper, message{Verb: sayMaster}, master)
}
