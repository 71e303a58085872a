package pathresolver

import (
	"io/fs"
	"sync"

	"github.com/pinfold-dev/pinfold/internal/resolved"
)

const (
	// maxMadeGit bounds the git directories, and files named .git, that are
	// known to be made through one resolver; beyond it they count as others'.
	maxMadeGit = 1 << 16
	// maxMadeDirs is how many of the directories made last are known.
	maxMadeDirs = 1 << 15
)

// madeDirs are directories that were made through a resolver: what git keeps
// in them is the caller's own. They are known by what they are, not by where,
// so that one that the host puts at the same place is not taken for it.
type madeDirs struct {
	mu   sync.Mutex
	git  map[linkKey]bool
	last map[linkKey]bool
	ring []linkKey // of last, the oldest at next once it is full
	next int
}

func (m *madeDirs) has(id resolved.FileID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return known(id) && (m.git[keyOf(id)] || m.last[keyOf(id)])
}

// add notes a directory that was made, or a file named .git.
func (m *madeDirs) add(place string, id resolved.FileID) {
	if !known(id) {
		return
	}
	key := keyOf(id)
	m.mu.Lock()
	defer m.mu.Unlock()
	if isGitPlace(place) {
		if len(m.git) < maxMadeGit {
			if m.git == nil {
				m.git = map[linkKey]bool{}
			}
			m.git[key] = true
		}
		return
	}
	if m.last == nil {
		m.last = map[linkKey]bool{}
	}
	if len(m.ring) < maxMadeDirs {
		m.ring = append(m.ring, key)
	} else {
		delete(m.last, m.ring[m.next])
		m.ring[m.next] = key
		m.next = (m.next + 1) % maxMadeDirs
	}
	m.last[key] = true
}

// isGitPlace reports whether a place is a git directory or, in one, a
// directory about which a rule asks later who made it.
func isGitPlace(place string) bool {
	parent, name := splitPlace(place)
	if isDotGit(name) {
		return true
	}
	switch name {
	case "rebase-merge", "rebase-apply", "sequencer":
		return true
	}
	_, above := splitPlace(parent)
	return above == "worktrees"
}

// maxGitWays bounds what a resolver learns of them while it is used.
const maxGitWays = 1 << 14

// gitWays are places that do not become links. The zero value has none.
type gitWays struct {
	mu sync.RWMutex
	by map[string]string // folded places, and what names them
}

func (w *gitWays) get(place string) (by string, found bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	by, found = w.by[fold(place)]
	return by, found
}

// add adds a place.
func (w *gitWays) add(by, place string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[string]string{}
	}
	w.by[fold(place)] = by
}

// addWithin adds a place and those above it. ok is false where so many are known
// that there is no room: what agents name has a bound.
func (w *gitWays) addWithin(by, place string) (ok bool) {
	w.mu.RLock()
	ok = len(w.by) < maxGitWays
	w.mu.RUnlock()
	if !ok {
		return false
	}
	for ; place != "."; place, _ = splitPlace(place) {
		w.add(by, place)
	}
	return true
}

// noteMade records that a directory or a regular file, as kind says, was made at a
// place through this resolver or through a view of it. It decides whether rules
// about git directories treat it as the caller's own; what is not noted counts as
// something that stood there before. Of files only those named .git and those at
// places where gitLock is true matter.
func (r *Resolver) noteMade(place string, kind fs.FileMode, f resolved.FileID) {
	_, name := splitPlace(place)
	switch {
	case r.git == nil:
	case kind == fs.ModeDir, kind == 0 && isDotGit(name):
		r.git.made.add(place, f)
	case kind == 0 && r.gitLock(place):
		r.git.locks.add(f)
	}
}
