package sandboxfs

import (
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"
)

// lockedDirs tells which names the host made or removed in directories of a write mount in
// which files were locked, since the last lock there. Only who gets a lock asks: a
// database looks so whether somebody died in the middle of a change. To hear of each
// event at once, in all directories, made creating a file half as slow again, since most
// events are of what was done through the view.
type lockedDirs struct {
	mu   sync.Mutex
	fd   int // inotify; 0 until it is needed, -1 where there is none
	dirs map[int32]*node
	buf  []byte
}

// maxLockedDirs bounds the watches. Beyond it, and where there is no inotify, names are
// what the kernel believes, for a second at most.
const maxLockedDirs = 256

// nameEvents are those of names in a directory.
const nameEvents = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ONLYDIR

// changedNames are the names that changed in watched directories since it was asked last;
// all says that others in dir may have, too. fd is that directory, which is watched from now
// on.
func (l *lockedDirs) changedNames(dir *node, fd int) (changed map[nameKey]bool, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fd == 0 {
		var err error
		if l.fd, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err != nil {
			l.fd = -1
		}
		l.dirs, l.buf = map[int32]*node{}, make([]byte, 16<<10)
	}
	changed = map[nameKey]bool{}
	if l.fd < 0 {
		return changed, false
	}
	for {
		size, err := unix.Read(l.fd, l.buf)
		if err != nil || size <= 0 { // EAGAIN: that was all
			break
		}
		for rest := l.buf[:size]; len(rest) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(rest))
			mask := binary.NativeEndian.Uint32(rest[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:]))
			name := unix.ByteSliceToString(rest[unix.SizeofInotifyEvent:end])
			rest = rest[end:]
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				clear(l.dirs) // of each it is not known what changed
			case mask&unix.IN_IGNORED != 0:
				delete(l.dirs, wd)
			case l.dirs[wd] != nil:
				changed[nameKey{l.dirs[wd], name}] = true
			}
		}
	}
	// The same directory has the same number, also when another node stands for it.
	if len(l.dirs) < maxLockedDirs {
		if wd, err := unix.InotifyAddWatch(l.fd, procPath(fd), nameEvents); err == nil {
			all = l.dirs[int32(wd)] != dir
			l.dirs[int32(wd)] = dir
		}
	}
	return changed, all
}

func (l *lockedDirs) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fd > 0 {
		closeFD(l.fd)
	}
	l.fd = -1
}

// staleNames returns the names beside n, and in other directories that are watched, that
// may not be what the kernel was told of.
func (c *connection) staleNames(n *node) (stale []nameKey) {
	c.moves.RLock()
	defer c.moves.RUnlock()
	dir, _ := c.tab.nameOf(n)
	if dir == nil {
		return nil // it was removed, or is all of a mount
	}
	place, err := c.tab.place(dir)
	if err != nil {
		return nil
	}
	in, err := c.cachedDirOf(dir, place)
	if err != nil {
		return nil
	}
	defer in.drop()
	changed, all := c.lockedDirs.changedNames(dir, in.fd)
	if all {
		for key := range c.tab.named() {
			if key.dir == dir {
				changed[key] = true
			}
		}
	}
	for key := range changed {
		child := c.tab.child(key.dir, key.name)
		if child != nil && child.fixed.Load() {
			continue // or what is mounted beneath it would be detached
		}
		if key.dir != dir || !c.isKnown(in, key.name, child) {
			stale = append(stale, key)
		}
	}
	return stale
}

// isKnown reports whether what there is in a directory is child, which the kernel was told
// of, as it is after what was done through the view; nil is nothing.
func (c *connection) isKnown(in *cachedDir, name string, child *node) bool {
	var sx unix.Statx_t
	switch err := c.statIn(in, joinPlace(in.place, name), name, &sx); {
	case err == unix.ENOENT:
		return child == nil
	case err != nil || child == nil:
		return false
	}
	return identityOf(&sx) == c.tab.ident(child)
}
