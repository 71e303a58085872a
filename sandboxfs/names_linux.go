package sandboxfs

import (
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// place returns where n is, ESTALE if it has no name any more.
func (t *table) place(n *node) (string, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.placeLocked(n)
}

func (t *table) placeLocked(n *node) (string, error) {
	size := 0
	at := n
	for ; at.parent != nil; at = at.parent {
		size += len(at.name) + 1
	}
	if at.id != fuseconn.RootID {
		return "", unix.ESTALE
	}
	if size == 0 {
		return t.base, nil
	}
	if t.base == "." {
		size--
	} else {
		size += len(t.base)
	}
	buf := make([]byte, size)
	for at = n; at.parent != nil; at = at.parent {
		size -= len(at.name)
		copy(buf[size:], at.name)
		if size > 0 {
			size--
			buf[size] = '/'
		}
	}
	if t.base != "." {
		copy(buf, t.base)
	}
	return string(buf), nil
}

// places returns every place that n is known under, the first name first.
func (t *table) places(n *node) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var all []string
	if first, err := t.placeLocked(n); err == nil {
		all = append(all, first)
	}
	for _, key := range t.more[n] {
		if dir, err := t.placeLocked(key.dir); err == nil {
			all = append(all, joinPlace(dir, key.name))
		}
	}
	return all
}

// child returns the node known under name in dir, nil if there is none.
func (t *table) child(dir *node, name string) *node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.names[nameKey{dir, name}]
}

// removed notes that name in dir is gone.
func (t *table) removed(dir *node, name string) {
	t.mu.Lock()
	defer t.unlock()
	key := nameKey{dir, name}
	if n := t.names[key]; n != nil && !n.fixed.Load() {
		t.dropName(n, key)
		t.release(n)
	}
}

// renamed notes that a name was moved over another, or exchanged with it.
func (t *table) renamed(from, to nameKey, exchange bool) {
	t.mu.Lock()
	defer t.unlock()
	moved, target := t.names[from], t.names[to]
	if moved == target {
		return // two names of one file: rename(2) does nothing
	}
	if moved != nil {
		t.dropName(moved, from)
	}
	if target != nil {
		t.dropName(target, to)
	}
	if moved != nil {
		t.addName(moved, to)
	}
	if target != nil && exchange {
		t.addName(target, from)
	}
	t.release(moved)
	t.release(target)
}

// addName gives n a name. The lock is held.
func (t *table) addName(n *node, key nameKey) {
	if n.parent == nil && !n.fixed.Load() {
		n.parent, n.name = key.dir, key.name
	} else {
		t.more[n] = append(t.more[n], key)
	}
	t.names[key] = n
	key.dir.kids++
}

// dropName takes a name from n. If it was the first, another name takes its place, if
// there is one. The lock is held.
func (t *table) dropName(n *node, key nameKey) {
	others := t.more[n]
	if n.parent == key.dir && n.name == key.name {
		n.parent, n.name = nil, ""
		if len(others) > 0 {
			n.parent, n.name = others[0].dir, others[0].name
			others = others[1:]
		}
	} else {
		for i, k := range others {
			if k == key {
				others = append(others[:i:i], others[i+1:]...)
				break
			}
		}
	}
	if len(others) == 0 {
		delete(t.more, n)
	} else {
		t.more[n] = others
	}
	t.dropKey(key)
}
