package sandboxfs

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// recentFor is how long an open directory may be used without looking
	// whether it still is at its place. It is part of the second within which
	// changes of the host are seen.
	recentFor = 100 * time.Millisecond
	// maxRecent bounds the descriptors of each part that are kept for that.
	maxRecent = 64
)

// recent are the directories in which names were looked up just now: their
// neighbours cost one system call each instead of a walk. Only looking goes
// by them; who opens a file or changes something walks to the place.
type recent struct {
	mu    sync.Mutex
	slots [maxRecent]*recentDir
}

// recentDir is a directory that was found at its place. It closes itself.
type recentDir struct {
	node  *node
	place string
	fd    int // O_PATH
	sx    unix.Statx_t
	users atomic.Int32 // the table, and who got it
}

func (d *recentDir) drop() {
	if d.users.Add(-1) == 0 {
		closeFD(d.fd)
	}
}

// recently returns a directory, to be dropped. p.moves is held.
func (p *part) recently(n *node, place string) (*recentDir, error) {
	slot := &p.recent.slots[n.id%maxRecent]
	p.recent.mu.Lock()
	d := *slot
	if d != nil && d.node == n && d.place == place {
		d.users.Add(1)
		p.recent.mu.Unlock()
		return d, nil
	}
	p.recent.mu.Unlock()

	d = &recentDir{node: n, place: place}
	var err error
	if d.fd, err = p.openAt(n, place, unix.O_PATH, &d.sx); err != nil {
		return nil, err
	}
	d.users.Store(2)
	p.recent.mu.Lock()
	before := *slot
	*slot = d
	p.recent.mu.Unlock()
	if before != nil {
		before.drop()
	}
	time.AfterFunc(recentFor, func() { p.recent.forget(d) })
	return d, nil
}

// forget has a directory walked to again.
func (r *recent) forget(d *recentDir) {
	slot := &r.slots[d.node.id%maxRecent]
	r.mu.Lock()
	there := *slot == d
	if there {
		*slot = nil
	}
	r.mu.Unlock()
	if there {
		d.drop()
	}
}

// moved is called when the host has moved or removed a directory.
func (r *recent) moved(n *node) {
	r.mu.Lock()
	d := r.slots[n.id%maxRecent]
	r.mu.Unlock()
	if d != nil && d.node == n {
		r.forget(d)
	}
}

func (r *recent) closeAll() {
	for i := range r.slots {
		r.mu.Lock()
		d := r.slots[i]
		r.mu.Unlock()
		if d != nil {
			r.forget(d)
		}
	}
}
