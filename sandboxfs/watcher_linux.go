package sandboxfs

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// maxWatches bounds how many directories one view watches. The system's limit
// is per user, and the editor on the host needs some too.
const maxWatches = 8192

const watchEvents = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// watcher tells the kernel when the host changes a directory that the kernel knows.
// With it the kernel may remember the read-only mount for validWatched: most look-ups
// cost no request, and changes on the host are still seen at once. It may be late or
// lose a watch; what the kernel remembers then ends with its timeout. A nil watcher
// watches nothing.
type watcher struct {
	p    *connection
	sent atomic.Uint64
	full atomic.Bool // no more watches can be had for now

	mu   sync.Mutex
	file *os.File // inotify, nil where there is none
	fd   int
	dirs map[int32]*node
	done chan struct{}

	elsewhere sync.Map // of devices: whether their files change unseen
}

// unseen are file systems that can be changed by others than this kernel: by a server,
// or by another machine. inotify says nothing of those changes.
var unseen = []int64{
	unix.FUSE_SUPER_MAGIC, unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC,
	unix.V9FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC,
	unix.NCP_SUPER_MAGIC,
	0x0bd00bd0, // lustre
	0x47504653, // gpfs
	0x01161970, // gfs2
	0x7461636f, // ocfs2
	0x786f4256, // vboxsf
	0xbacbacbc, // vmhgfs
	0x7c7c6673, // prl_fs
}

// changesUnseen reports whether fd, which lies on the device dev, may change
// without an event. Each device is asked once.
func (w *watcher) changesUnseen(fd int, dev uint32) bool {
	if known, ok := w.elsewhere.Load(dev); ok {
		return known.(bool)
	}
	var st unix.Statfs_t
	if err := fsat.Retry(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return true
	}
	is := slices.Contains(unseen, int64(uint32(st.Type)))
	w.elsewhere.Store(dev, is)
	return is
}

func newWatcher(p *connection) *watcher {
	w := &watcher{p: p, dirs: map[int32]*node{}}
	p.tab.unwatch = w.remove
	return w
}

func (w *watcher) start() {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fd, w.file, w.done = fd, os.NewFile(uintptr(fd), "inotify"), make(chan struct{})
	go w.run(w.file, w.done)
}

// add watches a directory, which fd is and sx describes, and reports whether its
// changes will be notified: all that come after.
func (w *watcher) add(dir *node, fd int, sx *unix.Statx_t) bool {
	if w == nil {
		return false
	}
	if w.p.tab.dirWatched(dir) {
		return true
	}
	if w.full.Load() || w.changesUnseen(fd, deviceOf(sx)) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return false
	}
	wd, err := unix.InotifyAddWatch(w.fd, procPath(fd), watchEvents)
	if err != nil {
		w.full.Store(err == unix.ENOSPC)
		return false
	}
	if before := w.dirs[int32(wd)]; before != nil && before != dir {
		w.p.tab.setWatch(before, 0) // the same directory under a name it had
	}
	w.dirs[int32(wd)] = dir
	w.full.Store(len(w.dirs) >= maxWatches)
	w.p.tab.setWatch(dir, int32(wd))
	return true
}

func (w *watcher) remove(wd int32, n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirs[wd] == n && w.file != nil {
		delete(w.dirs, wd)
		w.full.Store(false)
		_, _ = unix.InotifyRmWatch(w.fd, uint32(wd))
	}
}

// run reads events until the watcher is closed.
func (w *watcher) run(file *os.File, done chan struct{}) {
	defer close(done)
	buf := make([]byte, 64<<10)
	for {
		size, err := file.Read(buf)
		if err != nil {
			return
		}
		for rest := buf[:size]; len(rest) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(rest))
			mask := binary.NativeEndian.Uint32(rest[4:])
			length := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:]))
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:length], []byte{0})
			rest = rest[length:]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				w.invalidateAll()
				continue
			}
			w.event(wd, mask, string(name))
		}
	}
}

// event tells the kernel what one event means. No lock is held meanwhile: the
// kernel may have to wait for requests that we are to answer.
func (w *watcher) event(wd int32, mask uint32, name string) {
	w.mu.Lock()
	dir := w.dirs[wd]
	if mask&unix.IN_IGNORED != 0 {
		delete(w.dirs, wd)
	}
	w.mu.Unlock()
	if dir == nil {
		return
	}
	if mask&(unix.IN_IGNORED|unix.IN_MOVE_SELF|unix.IN_DELETE_SELF) != 0 {
		w.p.tab.setWatch(dir, 0)
		w.p.dirs.moved(dir)
		if mask&unix.IN_MOVE_SELF != 0 {
			w.remove(wd, dir) // it tells of another place now
		}
		w.inode(dir)
		return
	}
	child := w.p.tab.child(dir, name)
	if mask&(unix.IN_MODIFY|unix.IN_ATTRIB) != 0 {
		switch {
		case name == "":
			w.inode(dir)
		case child != nil:
			w.inode(child)
		}
		return
	}
	w.name(dir, child, name)
	w.inode(dir)
}

// name makes the kernel forget a name. A fixed node keeps its name, or what is mounted
// beneath it would be detached; only its attributes are forgotten.
func (w *watcher) name(dir, child *node, name string) {
	if child != nil && child.fixed.Load() {
		w.inode(child)
		return
	}
	w.sent.Add(1)
	w.p.conn.ForgetName(dir.id, name)
}

// inode has the kernel forget the attributes and data of a node.
func (w *watcher) inode(n *node) {
	w.sent.Add(1)
	w.p.conn.ForgetInode(n.id)
}

// invalidateAll has the kernel forget all it was told, after events were lost.
func (w *watcher) invalidateAll() {
	for _, n := range w.p.tab.all() {
		if dir, name := w.p.tab.nameOf(n); dir != nil && !n.fixed.Load() {
			w.name(dir, n, name)
		}
		w.inode(n)
	}
}

func (w *watcher) count() (watches int, sent uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.dirs), w.sent.Load()
}

// close ends the watching and returns when no event is handled any more.
func (w *watcher) close() {
	w.mu.Lock()
	file, done := w.file, w.done
	w.file = nil
	w.mu.Unlock()
	if file != nil {
		_ = file.Close()
		<-done
	}
}
