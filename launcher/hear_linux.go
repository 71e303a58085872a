package launcher

import (
	"cmp"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// hearPatience is how long a program that begins to use inotify(7) waits for the host
// to be watched. After it, it goes on and hears of what is done inside alone.
const hearPatience = 10 * time.Second

// hearing is what the set-up helper knows of whether the host is watched
// (sandboxfs.View.WatchHost). That begins with the first program inside that makes an
// inotify(7) descriptor, which waits meanwhile; in a run without one nothing is watched, and
// its start takes no longer that could be measured.
type hearing struct {
	begins, ends sync.Once
	over         chan struct{} // closed when nobody has to wait any more
}

func newHearing() *hearing { return &hearing{over: make(chan struct{})} }

// wait calls goOn once the host is watched, or cannot be.
func (h *hearing) wait(goOn func()) {
	h.begins.Do(func() {
		if send(fdSetup, message{Verb: sayInotify}, -1) != nil {
			h.end()
		}
		time.AfterFunc(hearPatience, h.end)
	})
	go func() {
		<-h.over
		goOn()
	}()
}

// end says that nobody has to wait any more.
func (h *hearing) end() { h.ends.Do(func() { close(h.over) }) }

// hostEvent is a sandboxfs.HostEvent on its way; names need not be UTF-8.
type hostEvent struct {
	View, Mount              int
	Op                       sandboxfs.HostOp
	Dir, Name, ToDir, ToName []byte
	Mode                     uint32
}

// hearHost has the host watched, for the supervisor.
func (s *session) hearHost() {
	unheard := func(where string, err error) {
		s.unheard = append(s.unheard, fmt.Sprintf("that programs which wait for edits in %q hear of the host's: %v", where, err))
	}
	ours, theirs, err := channelPair()
	if err != nil {
		unheard(s.plan.Root, err)
		return
	}
	err = send(s.setup, message{Verb: sayRepeat}, theirs)
	unix.Close(theirs)
	var m message
	if err == nil {
		m, _, err = receive(ours, int(hearPatience.Milliseconds()))
	}
	if err != nil || m.Verb != sayThread {
		unheard(s.plan.Root, fmt.Errorf("the set-up helper does not answer: %w", cmp.Or(err, error(unix.EPROTO))))
		unix.Close(ours)
		return
	}
	channel := &repeatChannel{fd: ours}
	s.repeats = channel
	for i, v := range s.config.views() {
		err := v.View.WatchHost(uint32(m.ID), func(e sandboxfs.HostEvent) error {
			return channel.repeat(&hostEvent{View: i, Mount: e.Mount, Op: e.Op, Dir: []byte(e.Dir), Name: []byte(e.Name),
				ToDir: []byte(e.ToDir), ToName: []byte(e.ToName), Mode: e.Mode})
		})
		if err != nil {
			unheard(v.Root, err)
		}
	}
	channel.ready()
}

// repeatChannel leads to the thread that repeats, for all views of a run.
type repeatChannel struct {
	mu sync.Mutex
	fd int // -1: closed
}

// repeat has an event repeated, and returns when that is done.
func (c *repeatChannel) repeat(e *hostEvent) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		return unix.EBADF
	}
	if err := send(c.fd, message{Verb: sayRepeat, Event: e}, -1); err != nil {
		return err
	}
	m, _, err := receive(c.fd, -1) // its end is the end of the set-up helper
	if err == nil && m.Errno != 0 {
		err = m.Errno
	}
	return err
}

// ready says that the host is watched, or cannot be.
func (c *repeatChannel) ready() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd >= 0 {
		_ = send(c.fd, message{Verb: sayServed}, -1)
	}
}

// close is called when the set-up helper is gone.
func (c *repeatChannel) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	unix.Close(c.fd)
	c.fd = -1
}

// repeat does in the view what the supervisor says on a channel, until that is closed.
func (k *setupHelper) repeat(channel int) {
	defer k.watcher.hearing.end()
	defer unix.Close(channel)
	r := repeater{view: &k.view, copies: map[[2]int]int{}}
	if err := r.settle(); err != nil {
		return
	}
	if send(channel, message{Verb: sayThread, ID: unix.Gettid()}, -1) != nil {
		return
	}
	for {
		m, attached, err := receive(channel, -1)
		if attached >= 0 {
			unix.Close(attached)
		}
		switch {
		case err != nil:
			return
		case m.Verb == sayServed:
			k.watcher.hearing.end()
		case m.Verb == sayRepeat && m.Event != nil:
			answer := message{Verb: sayDone}
			if err := r.do(m.Event); err != nil {
				answer = failure(err)
				answer.Verb = sayDone
			}
			if send(channel, answer, -1) != nil {
				return
			}
		}
	}
}

// repeater repeats the host's changes in copies of the view's mounts that nobody else
// sees, and that are not read-only.
type repeater struct {
	view   *viewMounter
	copies map[[2]int]int
}

// settle keeps this goroutine's thread, whose number the server knows, and gives it a
// working directory of its own: the host's /proc/self/fd, from where descriptors have
// names.
func (r *repeater) settle() error {
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	return unix.Fchdir(r.view.self)
}

// root is the copy of a mount.
func (r *repeater) root(view, mount int) (int, error) {
	key := [2]int{view, mount}
	if fd, ok := r.copies[key]; ok {
		return fd, nil
	}
	r.view.mu.Lock()
	shown, ok := r.view.shown[key]
	r.view.mu.Unlock()
	if !ok {
		return -1, unix.ENOENT
	}
	fd, err := unix.OpenTree(shown, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, err
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
		unix.Close(fd)
		return -1, err
	}
	r.copies[key] = fd
	return fd, nil
}

// do repeats one event. The server answers; nothing is changed on the host.
func (r *repeater) do(e *hostEvent) error {
	root, err := r.root(e.View, e.Mount)
	if err != nil {
		return err
	}
	name := string(e.Name)
	dir, err := beneathRoot(root, string(e.Dir))
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	switch e.Op {
	case sandboxfs.HostProbe:
		var st unix.Stat_t
		return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	case sandboxfs.HostCreate:
		switch e.Mode {
		case unix.S_IFDIR:
			return unix.Mkdirat(dir, name, 0o700)
		case unix.S_IFLNK:
			return unix.Symlinkat(".", dir, name)
		case unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
			return unix.Mknodat(dir, name, e.Mode|0o600, 0)
		}
		return unix.EINVAL
	case sandboxfs.HostDelete:
		flags := 0
		if e.Mode == unix.S_IFDIR {
			flags = unix.AT_REMOVEDIR
		}
		return unix.Unlinkat(dir, name, flags)
	case sandboxfs.HostRename:
		to, err := beneathRoot(root, string(e.ToDir))
		if err != nil {
			return err
		}
		defer unix.Close(to)
		return unix.Renameat(dir, name, to, string(e.ToName))
	}
	return r.touch(dir, name, e.Op)
}

// touch repeats what was done to a file and not to its name.
func (r *repeater) touch(dir int, name string, op sandboxfs.HostOp) error {
	file := dir
	if name != "" {
		fd, err := beneathRoot(dir, name)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		file = fd
	}
	var st unix.Stat_t
	if err := unix.Fstat(file, &st); err != nil {
		return err
	}
	switch it := strconv.Itoa(file); op {
	case sandboxfs.HostModify:
		return unix.Truncate(it, st.Size)
	case sandboxfs.HostAttrib:
		return unix.Chmod(it, st.Mode&0o7777)
	case sandboxfs.HostClose:
		fd, err := unix.Open(it, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	return unix.EINVAL
}

// beneathRoot opens a path without following a link or leaving the mount. The root may be
// a file.
func beneathRoot(root int, path string) (int, error) {
	if path == "." {
		return unix.FcntlInt(uintptr(root), unix.F_DUPFD_CLOEXEC, 0)
	}
	return unix.Openat2(root, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
	})
}
