package pathresolver

import "sync"

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

func (m *madeDirs) has(id FileID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.git[id.key()] || m.last[id.key()]
}

// add notes a directory that was made, or a file named .git.
func (m *madeDirs) add(place string, id FileID) {
	key := id.key()
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

// NoteMade records that a directory, or a file named .git, was made at a place
// through this resolver or through a view of it. It decides whether rules about
// git directories treat it as the caller's own; a directory that is not noted
// counts as one that stood there before.
func (r *Resolver) NoteMade(place string, f FileID) {
	if r.git != nil {
		r.git.made.add(place, f)
	}
}
