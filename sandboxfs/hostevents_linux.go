package sandboxfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// maxHeard bounds how many directories are watched for programs inside. Each keeps
// an inode of the host in memory, about 1 KiB.
const maxHeard = 1 << 15

// hostEvents lets programs in the view hear of the host's changes by inotify(7). The
// kernel raises an event of a file system where an operation goes through it, and the
// host's do not go through ours. So they are repeated: fanotify(7) tells what others
// than this process have done in the directories that the kernel knows of our mounts;
// a thread of another process does that once more in the mount; and the server, which
// knows the thread, answers as if it had been done and does nothing. Events of the
// kernel's own come of it, for every watch and in the order of the host's.
//
// Nothing is forged by it: what is repeated has been done, and a name that is hidden is
// not repeated. A request of the thread that is not the one that was asked for fails.
type hostEvents struct {
	v      *View
	thread uint32
	repeat func(HostEvent) error
	fd     int
	file   *os.File
	done   chan struct{}

	now  atomic.Pointer[repetition]
	seen atomic.Bool // a request of the thread came

	mu     sync.Mutex
	fsids  map[uint32]unix.Fsid // by device
	dirs   map[string][]heardDir
	missed bool // some directory could not be watched, or events were lost
	closed bool // fd may be somebody else's
}

// heardDir is a directory in one of the mounts.
type heardDir struct {
	c     *connection
	n     *node
	place string // where it was found; who has watched it keeps n, so that this is for others
}

// known reports whether the kernel still knows it.
func (d heardDir) known() bool { return d.c.tab.get(d.n.id) == d.n }

// repetition is what the thread is about to do.
type repetition struct {
	HostEvent
	c       *connection
	dir, to *node
	reached atomic.Bool // the request that raises the event came
}

const heardEvents = unix.FAN_CREATE | unix.FAN_DELETE | unix.FAN_RENAME | unix.FAN_MODIFY | unix.FAN_ATTRIB |
	unix.FAN_CLOSE_WRITE | unix.FAN_ONDIR | unix.FAN_EVENT_ON_CHILD

// WatchHost has programs in the view hear by inotify(7) of what the host changes, from
// now on, in the directories that the kernel knows. repeat does in the mount what an
// event says, and returns when that is done; thread is the one that does it, by the
// number that requests carry. It must belong to another process: one that waits for
// itself could not even be killed. An error says that nothing is heard: there is no
// fanotify(7) by names (Linux 5.17), or the requests of the thread are not told apart.
func (v *View) WatchHost(thread uint32, repeat func(HostEvent) error) error {
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_CLOEXEC|unix.FAN_NONBLOCK|unix.FAN_REPORT_DFID_NAME, unix.O_RDONLY)
	if err != nil {
		return fmt.Errorf("fanotify_init: %w", err)
	}
	e := &hostEvents{v: v, thread: thread, repeat: repeat, fd: fd, file: os.NewFile(uintptr(fd), "fanotify"), done: make(chan struct{}),
		fsids: map[uint32]unix.Fsid{}, dirs: map[string][]heardDir{}}
	if !v.events.CompareAndSwap(nil, e) {
		e.end()
		return errors.New("the host is watched already")
	}
	_ = repeat(HostEvent{Op: HostProbe, Dir: ".", Name: ".pinfold-probe"})
	if !e.seen.Load() {
		v.events.Store(nil)
		e.end()
		return errors.New("the requests of the thread are not its own")
	}
	// With the rights of the view: who may not list a directory does not hear of it.
	v.within(func() {
		for _, c := range v.layout.all() {
			if c.started.Load() {
				e.watchAll(c)
			}
		}
	})
	go v.within(e.run)
	return nil
}

// watchAll watches the directories that the kernel knows of a mount.
func (e *hostEvents) watchAll(c *connection) {
	for _, n := range c.tab.all() {
		if n.typ == unix.S_IFDIR {
			c.moves.RLock() // for one at a time: a rename that waits holds up everything
			e.watch(c, n)
			c.moves.RUnlock()
		}
	}
}

// watch has the changes of a directory heard; c.moves is held.
func (e *hostEvents) watch(c *connection, n *node) {
	if n.heard.Load() {
		return
	}
	place, err := c.tab.place(n)
	if err != nil {
		return
	}
	fd, err := c.rules().OpenPlace(place, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return
	}
	defer closeFD(fd)
	var sx unix.Statx_t
	if statFD(fd, &sx) != nil || c.same(n, &sx) != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || n.heard.Swap(true) { // another thread was faster; or it cannot be heard, which is not tried again
		return
	}
	key, err := e.keyOf(fd, deviceOf(&sx))
	if err != nil {
		e.missed = true
		return
	}
	if _, marked := e.dirs[key]; !marked {
		if len(e.dirs) >= maxHeard {
			e.prune()
		}
		if len(e.dirs) >= maxHeard {
			e.missed = true
			return
		}
		if err := unix.FanotifyMark(e.fd, unix.FAN_MARK_ADD, heardEvents, unix.AT_FDCWD, procPath(fd)); err != nil {
			e.missed = e.missed || err != unix.EACCES
			return
		}
	}
	// Of those that the kernel has forgotten the last one stays, for what is done to the
	// directory itself.
	list := slices.DeleteFunc(slices.Clone(e.dirs[key]), func(d heardDir) bool { return d.c == c && !d.known() })
	e.dirs[key] = append(list, heardDir{c, n, place})
}

// prune lets go of directories that the kernel has forgotten, about which nobody can
// want to hear. e.mu is held.
func (e *hostEvents) prune() {
	for key, list := range e.dirs {
		if slices.ContainsFunc(list, heardDir.known) {
			continue
		}
		delete(e.dirs, key)
		for _, d := range list {
			// Where something else stands by now the mark stays, and is not listened to.
			if fd, err := d.c.rules().OpenPlace(d.place, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0); err == nil {
				_ = unix.FanotifyMark(e.fd, unix.FAN_MARK_REMOVE, heardEvents, unix.AT_FDCWD, procPath(fd))
				closeFD(fd)
			}
		}
	}
}

// keyOf is how an event names a directory: its file system and its handle.
func (e *hostEvents) keyOf(fd int, dev uint32) (string, error) {
	id, ok := e.fsids[dev]
	if !ok {
		var st unix.Statfs_t
		if err := unix.Fstatfs(fd, &st); err != nil {
			return "", err
		}
		id = st.Fsid
		e.fsids[dev] = id
	}
	h, _, err := unix.NameToHandleAt(fd, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return "", err
	}
	key := binary.NativeEndian.AppendUint32(nil, uint32(id.Val[0]))
	key = binary.NativeEndian.AppendUint32(key, uint32(id.Val[1]))
	key = binary.NativeEndian.AppendUint32(key, uint32(h.Size()))
	key = binary.NativeEndian.AppendUint32(key, uint32(h.Type()))
	return string(append(key, h.Bytes()...)), nil
}

// run reads events until the view is closed.
func (e *hostEvents) run() {
	defer close(e.done)
	buf := make([]byte, 64<<10)
	for {
		size, err := e.file.Read(buf)
		if err != nil {
			return
		}
		for rest := buf[:size]; len(rest) >= unix.FAN_EVENT_METADATA_LEN; {
			length := binary.NativeEndian.Uint32(rest)
			if length < unix.FAN_EVENT_METADATA_LEN || int(length) > len(rest) {
				break
			}
			e.event(rest[:length])
			rest = rest[length:]
		}
	}
}

// event handles one event of the host. Its layout is that of fanotify(7).
func (e *hostEvents) event(b []byte) {
	mask, pid := binary.NativeEndian.Uint64(b[8:]), int32(binary.NativeEndian.Uint32(b[20:]))
	if int(pid) == os.Getpid() {
		return // done by the server, for a program in the view, which the kernel has told
	}
	if mask&unix.FAN_Q_OVERFLOW != 0 {
		e.mu.Lock()
		e.missed = true
		e.mu.Unlock()
		return
	}
	var in, from, to []heardDir
	var name, fromName, toName string
	for info := b[binary.NativeEndian.Uint16(b[6:]):]; len(info) >= 4; {
		length := int(binary.NativeEndian.Uint16(info[2:]))
		if length < 20 || length > len(info) {
			return
		}
		end := 20 + int(binary.NativeEndian.Uint32(info[12:]))
		if end > length {
			return
		}
		e.mu.Lock()
		dirs := e.dirs[string(info[4:end])]
		e.mu.Unlock()
		called := cString(info[end:length])
		switch info[0] {
		case unix.FAN_EVENT_INFO_TYPE_DFID_NAME:
			in, name = dirs, called
		case unix.FAN_EVENT_INFO_TYPE_OLD_DFID_NAME:
			from, fromName = dirs, called
		case unix.FAN_EVENT_INFO_TYPE_NEW_DFID_NAME:
			to, toName = dirs, called
		}
		info = info[length:]
	}
	dir := uint32(unix.S_IFREG)
	if mask&unix.FAN_ONDIR != 0 {
		dir = unix.S_IFDIR
	}
	if mask&unix.FAN_RENAME != 0 {
		e.renamed(from, fromName, to, toName, dir)
		return
	}
	for _, d := range in {
		e.happened(d, name, mask, dir)
	}
}

func cString(b []byte) string {
	if i := slices.Index(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// close ends the watching and returns when no event is handled any more.
func (e *hostEvents) close() {
	e.end()
	<-e.done
}

func (e *hostEvents) end() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	_ = e.file.Close()
}

// incomplete reports whether something may not have been heard.
func (e *hostEvents) incomplete() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.missed
}
