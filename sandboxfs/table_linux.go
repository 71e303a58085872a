package sandboxfs

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// identity tells one file of the backing tree from another, also when an
// inode number is used again: born is folded from the time of birth.
type identity struct {
	ino  uint64
	dev  uint32
	born uint32
}

// node is what the kernel knows by one node id: a name in a directory and the
// file that was found there. A file whose name the host gives to another one
// becomes a new node; the old one answers ESTALE. Nodes hold no descriptor.
// All fields but id, typ, masked, heard, told, passed, held, fixed and listed are guarded by the table's lock.
type node struct {
	id      uint64
	parent  *node // nil for the root of the mount, and when the last name is gone
	name    string
	ident   identity
	lookups uint64                 // how often the kernel was told, less what it forgot
	kids    uint32                 // names that have this node as their directory
	watch   int32                  // inotify watch on this directory, 0 if none
	typ     uint16                 // S_IFMT bits
	heard   atomic.Bool            // the host's changes in this directory are heard (hostEvents)
	told    told                   // the kernel, last
	passed  atomic.Int64           // when it was last closed after the kernel wrote it by itself
	held    atomic.Bool            // something is kept for it elsewhere
	fixed   atomic.Bool            // the root, or a directory that leads to a nested mount: for good
	listed  atomic.Int32           // age of the mount when a listing of it was given
	masked  atomic.Pointer[string] // the masked name that it was found by, its only one
}

// told is what the kernel was told of a file, by which it decides whether what it has read
// of it is still true.
type told struct {
	size  atomic.Int64
	mtime atomic.Int64 // in nanoseconds
}

func (t *told) note(sx *unix.Statx_t) {
	t.size.Store(int64(sx.Size))
	t.mtime.Store(sx.Mtime.Sec*1e9 + int64(sx.Mtime.Nsec))
}

// nameKey is where a node is found by name.
type nameKey struct {
	dir  *node
	name string
}

// linkKey is where a file with several hard links is found by what it is. The
// same file under two verdicts is two nodes.
type linkKey struct {
	ident    identity
	writable bool
}

// table holds the nodes of one mount. Nothing is done under its lock but
// looking and changing; the names in it follow what was done to the tree.
type table struct {
	base string // place of the root node

	mu    sync.RWMutex
	byID  map[uint64]*node
	names map[nameKey]*node
	links map[linkKey]*node   // files known to have several names
	more  map[*node][]nameKey // names of a node besides its first
	next  uint64
	peak  int // largest size since the maps were made anew

	dropped []dropped // since the lock was taken

	freed   func(n *node)           // called without the lock for each of them
	unwatch func(wd int32, n *node) // likewise, for a watched directory
}

// dropped is a node that was dropped while something was kept for it elsewhere.
type dropped struct {
	n     *node
	watch int32
}

// unlock is for methods that may have dropped nodes: what is kept for them
// elsewhere is freed without the lock.
func (t *table) unlock() {
	all := t.dropped
	t.dropped = nil
	t.mu.Unlock()
	for _, d := range all {
		t.freed(d.n)
		if d.watch != 0 {
			t.unwatch(d.watch, d.n)
		}
	}
}

func newTable(base string, typ uint16) *table {
	root := &node{id: fuseconn.RootID, typ: typ}
	root.fixed.Store(true)
	return &table{
		base:  base,
		byID:  map[uint64]*node{fuseconn.RootID: root},
		names: map[nameKey]*node{},
		links: map[linkKey]*node{},
		more:  map[*node][]nameKey{},
		next:  fuseconn.RootID + 1,
		freed: func(*node) {}, unwatch: func(int32, *node) {},
	}
}

// get returns the node with this id, nil if the kernel was never told of it.
func (t *table) get(id uint64) *node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id]
}

// fix makes the directories on the way to place fixed nodes. They are there whether or
// not the kernel asks for them, and keep their ids: if one of them became another
// node, or went, the kernel would detach what is mounted beneath it for good. file is
// set where the mount point is a regular file. It returns those that the kernel was not
// told of.
func (t *table) fix(names []string, file bool) (fresh []nameKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.byID[fuseconn.RootID]
	for i, name := range names {
		key := nameKey{at, name}
		n := t.names[key]
		if n == nil {
			n = t.add(at, name)
			n.typ = unix.S_IFDIR
			if file && i == len(names)-1 {
				n.typ = unix.S_IFREG
			}
			fresh = append(fresh, key)
		}
		n.fixed.Store(true)
		at = n
	}
	return fresh
}

// fixedChild returns the fixed node of that name, if there is one, and counts
// a lookup.
func (t *table) fixedChild(dir *node, name string) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.names[nameKey{dir, name}]
	if n == nil || !n.fixed.Load() {
		return nil
	}
	n.lookups++
	return n
}

// add makes a node with a name. The lock is held.
func (t *table) add(dir *node, name string) *node {
	n := &node{id: t.next, parent: dir, name: name}
	t.next++
	t.byID[n.id] = n
	if dir != nil {
		t.names[nameKey{dir, name}] = n
		dir.kids++
	}
	t.peak = max(t.peak, len(t.byID))
	return n
}

// found notes that id stands at name in dir, and returns its node with one lookup
// counted. linked is set where the file has several hard links.
func (t *table) found(dir *node, name string, id identity, typ uint16, linked, writable bool) *node {
	t.mu.Lock()
	defer t.unlock()
	key := nameKey{dir, name}
	n := t.names[key]
	if n != nil && (n.ident != id || n.typ != typ) {
		t.dropName(n, key) // the host put another file there
		n = nil
	}
	if n == nil && linked {
		if n = t.links[linkKey{id, writable}]; n != nil {
			t.addName(n, key)
		}
	}
	if n == nil {
		n = t.add(dir, name)
		n.ident, n.typ = id, typ
	}
	if linked {
		t.links[linkKey{id, writable}] = n
	}
	n.lookups++
	return n
}

// again returns the node known under name in dir, nil if there is none, and counts a
// lookup.
func (t *table) again(dir *node, name string) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.names[nameKey{dir, name}]
	if n != nil {
		n.lookups++
	}
	return n
}

// nameless makes a node for a file without a name, with one lookup counted.
func (t *table) nameless(id identity, typ uint16) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.add(nil, "")
	n.ident, n.typ, n.lookups = id, typ, 1
	return n
}

// linked notes that n got another name, and counts a lookup.
func (t *table) linked(n, dir *node, name string, writable bool) {
	t.mu.Lock()
	defer t.unlock()
	key := nameKey{dir, name}
	if old := t.names[key]; old != nil && old != n {
		t.dropName(old, key)
	}
	if t.names[key] == nil {
		t.addName(n, key)
	}
	t.links[linkKey{n.ident, writable}] = n
	n.lookups++
}

// forget takes back lookups, and drops the node with the last.
func (t *table) forget(id, count uint64) {
	t.mu.Lock()
	defer t.unlock()
	n := t.byID[id]
	if n == nil {
		return
	}
	n.lookups -= min(count, n.lookups)
	t.release(n)
}

// release drops n if the kernel does not know it any more, and then the directories
// that only n held. The lock is held.
func (t *table) release(n *node) {
	if n == nil || n.lookups > 0 || n.kids > 0 || n.fixed.Load() || t.byID[n.id] != n {
		return
	}
	delete(t.byID, n.id)
	if n.held.Load() || n.parent == nil || n.watch != 0 {
		t.dropped = append(t.dropped, dropped{n, n.watch})
	}
	t.unlink(n)
	for _, key := range t.more[n] {
		t.dropKey(key)
	}
	delete(t.more, n)
	if n.parent != nil {
		t.dropKey(nameKey{n.parent, n.name})
		n.parent = nil
	}
	t.shrink()
}

func (t *table) dropKey(key nameKey) {
	delete(t.names, key)
	key.dir.kids--
	t.release(key.dir)
}

// unlink takes n out of the index of files with several links.
func (t *table) unlink(n *node) {
	for _, writable := range [...]bool{false, true} {
		if key := (linkKey{n.ident, writable}); t.links[key] == n {
			delete(t.links, key)
		}
	}
}

// shrink makes the maps anew when most of what they held is gone: a map gives
// no memory back.
func (t *table) shrink() {
	if t.peak < 1024 || len(t.byID) > t.peak/4 {
		return
	}
	t.byID, t.names = maps.Collect(maps.All(t.byID)), maps.Collect(maps.All(t.names))
	t.links, t.more = maps.Collect(maps.All(t.links)), maps.Collect(maps.All(t.more))
	t.peak = len(t.byID)
}

// ident returns what n stands for.
func (t *table) ident(n *node) identity {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return n.ident
}

// watched reports whether changes of n on the host are notified: of the
// directory itself, or of the one that a file lies in.
func (t *table) watched(n *node) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return n.watch != 0 || n.typ != unix.S_IFDIR && n.parent != nil && n.parent.watch != 0
}

// size is the number of nodes.
func (t *table) size() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byID)
}

// isNameless reports whether n has lost its last name and is still known.
func (t *table) isNameless(n *node) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return n.parent == nil && t.byID[n.id] == n && !n.fixed.Load()
}

// dirWatched reports whether the directory itself is watched.
func (t *table) dirWatched(n *node) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return n.watch != 0
}

// setWatch notes the watch on a directory, 0 for none.
func (t *table) setWatch(n *node, wd int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n.watch = wd
}

// all returns every node.
func (t *table) all() []*node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Values(t.byID))
}

// named returns every name, with its node.
func (t *table) named() map[nameKey]*node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return maps.Clone(t.names)
}

// nameOf returns the first name of n, a nil directory if it has none.
func (t *table) nameOf(n *node) (dir *node, name string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return n.parent, n.name
}
