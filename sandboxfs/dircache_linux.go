package sandboxfs

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// dirCacheFor is how long an open directory may be used without looking
	// whether it still is at its place. It is part of the second within which
	// changes of the host are seen.
	dirCacheFor = 100 * time.Millisecond
	// maxCachedDirs bounds the descriptors of each mount that are kept for that.
	maxCachedDirs = 64
)

// dirCache holds the directories in which names were looked up just now: the next
// names in them cost one system call each instead of a walk. It is used for looking
// names up only; to open a file or change something the server walks to the place.
type dirCache struct {
	mu    sync.Mutex
	slots [maxCachedDirs]*cachedDir
}

// cachedDir is a directory that was found at its place. It closes itself.
type cachedDir struct {
	node  *node
	place string
	fd    int // O_PATH
	sx    unix.Statx_t
	users atomic.Int32 // the cache, and the callers of cachedDirOf
}

func (d *cachedDir) drop() {
	if d.users.Add(-1) == 0 {
		closeFD(d.fd)
	}
}

// cachedDirOf returns a directory, to be dropped. c.moves is held.
func (c *connection) cachedDirOf(n *node, place string) (*cachedDir, error) {
	slot := &c.dirs.slots[n.id%maxCachedDirs]
	c.dirs.mu.Lock()
	d := *slot
	if d != nil && d.node == n && d.place == place {
		d.users.Add(1)
		c.dirs.mu.Unlock()
		return d, nil
	}
	c.dirs.mu.Unlock()

	d = &cachedDir{node: n, place: place}
	var err error
	if d.fd, err = c.openAt(n, place, unix.O_PATH, &d.sx); err != nil {
		return nil, err
	}
	d.users.Store(2)
	c.dirs.mu.Lock()
	before := *slot
	*slot = d
	c.dirs.mu.Unlock()
	if before != nil {
		before.drop()
	}
	time.AfterFunc(dirCacheFor, func() { c.dirs.forget(d) })
	return d, nil
}

// forget drops a directory, which is walked to again.
func (all *dirCache) forget(d *cachedDir) {
	slot := &all.slots[d.node.id%maxCachedDirs]
	all.mu.Lock()
	there := *slot == d
	if there {
		*slot = nil
	}
	all.mu.Unlock()
	if there {
		d.drop()
	}
}

// moved is called when the host has moved or removed a directory.
func (all *dirCache) moved(n *node) {
	all.mu.Lock()
	d := all.slots[n.id%maxCachedDirs]
	all.mu.Unlock()
	if d != nil && d.node == n {
		all.forget(d)
	}
}

func (all *dirCache) closeAll() {
	for i := range all.slots {
		all.mu.Lock()
		d := all.slots[i]
		all.mu.Unlock()
		if d != nil {
			all.forget(d)
		}
	}
}
