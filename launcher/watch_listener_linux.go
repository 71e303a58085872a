package launcher

import (
	"encoding/gob"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempt is a watched call that is about to be made beneath the project.
type attempt struct {
	Time    int64 // Unix, in nanoseconds
	PID     uint32
	Program string
	Call    uint32 // its number
	Flags   uint64
	File    string // absolute, as the caller put it
	To      string // the second name of a rename or a link
}

// maxAttempts is how many may wait for the supervisor; more are counted. Tests
// lower it.
var maxAttempts = 4096

// tellAfter is how long the first of them waits for others.
const tellAfter = 20 * time.Millisecond

// attempts is what the set-up helper tells the supervisor at once.
type attempts struct {
	List []attempt
	Lost uint64 // how many more there were
	Done bool   // these are the last
}

// watcher hears of system calls that are about to change a file or a name, so that
// the report, the summary and --fail-on-deny have the refusals in mounts where the
// kernel refuses by itself. The other way to have them is to serve the whole view
// by one connection that is asked for each open (sandboxfs.Options.ReportAll),
// which costs speed in everything that a command reads. What is mounted without a
// server could not tell of refusals in any other way.
//
// It answers for the listener of the watch filter and decides nothing:
// every call goes on, and the view refuses what it refuses. What it read of a
// call may not be what the kernel then reads, since another thread can change
// it in between (seccomp_unotify(2)); a report is all that rests on it.
//
// It lives in the set-up helper: the supervisor may be slow or stopped, but the end
// of the set-up helper is the end of everything inside, so that no call is ever
// left waiting for a listener that is not there.
type watcher struct {
	listener int
	proc     int      // the host's /proc
	tree     int      // the project on the host, O_PATH
	root     string   // its path, inside and outside
	written  []string // the paths of the mounts that are not read-only
	hearing  *hearing

	mu      sync.Mutex // guards waiting; held while a call is looked at
	waiting attempts
	wake    chan struct{} // says that something waits

	telling sync.Mutex // guards tell; taken before mu
	tell    *gob.Encoder
}

// notification and answer are struct seccomp_notif and seccomp_notif_resp.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type answer struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// newWatcher opens what it needs of the host, while that is in sight. start
// is called once the view is mounted.
func newWatcher(root string) (w *watcher, err error) {
	w = &watcher{root: root, wake: make(chan struct{}, 1), hearing: newHearing()}
	if w.proc, err = unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, err
	}
	w.tree, err = unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return w, err
}

// start serves the listener that init sends on a channel, and tells on out of
// what it hears. broken is called when nobody answers for the listener any
// more though somebody may ask.
func (w *watcher) start(written []string, from int, out *os.File, broken func()) {
	debug.SetGCPercent(100) // which childEnv turns off for short lives
	w.written = written
	if out != nil {
		w.tell = gob.NewEncoder(out)
		go func() {
			for range w.wake {
				w.flush(false)
			}
		}()
	}
	go func() {
		if w.serve(from) != nil {
			broken()
		}
	}()
}

// write notes a further mount that is not read-only.
func (w *watcher) write(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written = append(w.written, path)
}

// rouse has what waits told.
func (w *watcher) rouse() {
	select {
	case w.wake <- struct{}{}:
	default: // it is about to be
	}
}

// serve gets the listener from init and answers until nobody is left who
// could ask. An error says that somebody could, and would wait for ever.
func (w *watcher) serve(from int) error {
	_, listener, err := receive(from, -1)
	unix.Close(from)
	if err != nil || listener < 0 {
		return nil // there is none
	}
	w.listener = listener
	// Both sides on one processor, one after the other (Linux 6.6).
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	c := caller{proc: w.proc, buf: make([]byte, unix.PathMax)}
	for {
		var n notification
		errno := uninterrupted(func() unix.Errno {
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
			return errno
		})
		switch errno {
		case 0:
			if slices.Contains(inotifyCalls, uint32(n.nr)) {
				w.hearing.wait(func() { w.goOn(n.id) })
			} else {
				w.hear(&c, &n)
			}
		case unix.ENOENT: // killed before we came, or nobody is left
			if hungUp(listener) {
				return nil
			}
		default:
			return errno
		}
	}
}

// uninterrupted makes a call again that a signal ended before it did anything,
// as both ioctls of a listener can be (the runtime sends its threads SIGURG). A
// caller whose answer was not sent would wait for ever.
func uninterrupted(call func() unix.Errno) unix.Errno {
	for {
		if errno := call(); errno != unix.EINTR {
			return errno
		}
	}
}

func hungUp(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd)}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLHUP != 0
}

// hear looks at one call while its caller waits, and lets it go on. mu is held
// until the attempt is written down: when everything inside has ended, the next
// holder of mu knows of every call that went on.
func (w *watcher) hear(c *caller, n *notification) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.tid, c.args = int(n.pid), n.args
	a, when := w.look(c, uint32(n.nr))
	// ENOENT says that it was killed meanwhile: its number may be another
	// process's by now, and so may be what was read.
	if w.goOn(n.id) == 0 && when != never {
		a.PID = n.pid
		w.add(a, when)
	}
}

// goOn lets the kernel do a call that was heard of.
func (w *watcher) goOn(id uint64) unix.Errno {
	goOn := answer{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	return uninterrupted(func() unix.Errno {
		_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(w.listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&goOn)))
		return errno
	})
}

// when is how soon the supervisor is told.
type when uint8

const (
	never when = iota // it is not for it
	later             // together with others
	soon              // what decides about it may not stay for long
)

// look reads what a call names.
func (w *watcher) look(c *caller, nr uint32) (a attempt, tell when) {
	call := callOf(nr)
	if call == nil {
		return a, never
	}
	a.Call, a.Flags = nr, call.fixed
	switch {
	case nr == unix.SYS_OPENAT2:
		a.Flags |= c.word(c.args[call.flags]) // open_how(2) begins with them
	case call.flags != none:
		a.Flags |= c.args[call.flags]
	}
	if call.does == doesOpen && (a.Flags&writingFlags == 0 || a.Flags&unix.O_PATH != 0) {
		return a, never
	}
	a.File = c.file(call.file, a.Flags)
	tell = w.concerns(a.File)
	if call.twoFiles() {
		a.To = c.file(call.to, a.Flags)
		tell = max(tell, w.concerns(a.To))
	}
	if tell != never {
		a.Time, a.Program = time.Now().UnixNano(), c.program()
	}
	return a, tell
}

// concerns says whether a path may lead to a mount that the kernel keeps
// read-only. Most paths are in a mount that is written, where the view itself
// tells of refusals: those are sorted out here, since the supervisor has better
// things to do. Links outside of the project are not followed.
func (w *watcher) concerns(file string) when {
	up := strings.Contains(file, "..")
	if !up {
		file = path.Clean(file) // "//" and "/./" change nothing; ".." after a link does
	}
	if !beneath(file, w.root) && (!up || !beneath(path.Clean(file), w.root)) {
		return never
	}
	for _, mount := range w.written {
		switch {
		case !beneath(file, mount):
		case up || w.linkAt(file): // a link that the command may change
			return soon
		default:
			return never
		}
	}
	return later
}

// linkAt reports whether a symbolic link may lie on the way to file. It looks
// in the host's tree, not in the view, which would tell of what it hides as if
// the set-up helper had asked for it.
func (w *watcher) linkAt(file string) bool {
	rel := strings.TrimLeft(file[len(w.root):], "/")
	if rel == "" {
		return false
	}
	fd, err := unix.Openat2(w.tree, rel, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
	if err == nil {
		unix.Close(fd)
	}
	return err != nil && err != unix.ENOENT
}

func (w *watcher) add(a attempt, tell when) {
	if len(w.waiting.List) >= maxAttempts {
		w.waiting.Lost++
		return
	}
	w.waiting.List = append(w.waiting.List, a)
	switch {
	case tell == soon:
		w.rouse()
	case len(w.waiting.List) == 1:
		time.AfterFunc(tellAfter, w.rouse)
	}
}

// flush tells the supervisor what waits. Where that fails nothing more is
// told, and the supervisor misses the batch that is done.
func (w *watcher) flush(done bool) {
	w.telling.Lock()
	defer w.telling.Unlock()
	w.mu.Lock()
	now := w.waiting
	w.waiting = attempts{}
	w.mu.Unlock()
	now.Done = done
	if done || len(now.List) > 0 || now.Lost > 0 {
		_ = w.tell.Encode(now) // the encoder keeps its first error
	}
}
