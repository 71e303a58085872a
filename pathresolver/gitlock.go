package pathresolver

import (
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// maxMadeLocks is how many of the locks made last are known.
const maxMadeLocks = 1 << 10

// madeLocks are files by which git prepares something (isLock) that were made
// through a resolver.
type madeLocks struct {
	mu   sync.Mutex
	ring [maxMadeLocks]linkKey
	next int
}

func (m *madeLocks) has(id resolved.FileID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return known(id) && slices.Contains(m.ring[:], keyOf(id))
}

func (m *madeLocks) add(id resolved.FileID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known(id) {
		m.ring[m.next%maxMadeLocks] = keyOf(id)
		m.next++
	}
}

// gitLock reports whether a place is one by which git prepares a file that is under
// a rule, such as .git/index.lock.
func (r *Resolver) gitLock(place string) bool {
	if r.git == nil || !isGitLockName(place) {
		return false
	}
	at, ok := r.git.find(place, 0)
	return ok && r.git.isLock(place, at.rest)
}

// CheckGitLock says whether a file that was opened at a place where gitLock is true
// may be written. Only one that was made through this resolver may: any other is being
// written by a git outside.
func (r inside) CheckGitLock(place string, f resolved.FileID) *DeniedError {
	if r.git.locks.has(f) {
		return nil
	}
	return r.gitDenied(access.OpWrite, place, RuleProtected, "a git elsewhere holds this lock")
}

// isLock reports whether a place, which ends in a name beneath a git directory, is a
// name at which git prepares a file that is under a rule. Git writes the file there
// and then renames it. Who holds it open by then could still change what was checked.
func (g *gitGuard) isLock(place, rest string) bool {
	if isPrepared(rest) {
		return true
	}
	base, lock := cutLock(rest)
	if !lock {
		return false
	}
	base = fold(base)
	place, _ = cutLock(place)
	return gitContentOf(base) != resolved.GitFree || g.actsBy(place, base) != ""
}

// isConfigLock reports whether a name beneath a git directory is the lock of its
// configuration. "git checkout -b x origin/x" makes one, and goes on when it cannot
// be put in place; where it cannot be made the branch is not checked out.
func isConfigLock(rest string) bool {
	base, lock := cutLock(rest)
	return lock && gitContentOf(base) == resolved.GitConfig
}

// isGitLockName reports whether a place, or a name alone, is one for which
// Resolver.gitLock may be true.
func isGitLockName(place string) bool {
	_, lock := cutLock(place)
	return lock || isPrepared(place)
}

// cutLock takes ".lock" from the end of a name.
func cutLock(place string) (base string, lock bool) {
	const ending = ".lock"
	at := len(place) - len(ending)
	if at <= 0 || !strings.EqualFold(place[at:], ending) {
		return place, false
	}
	return place[:at], true
}

// isPrepared reports whether a name is a temporary one: of an index or packed refs
// before git renames them, or of a copy that a view has checked.
func isPrepared(place string) bool {
	_, name := splitPlace(place)
	name = strings.ToLower(name)
	return name == "packed-refs.new" || strings.HasPrefix(name, tempPrefix) ||
		strings.HasPrefix(name, "sharedindex_") || strings.HasPrefix(name, "next-index-") || strings.HasPrefix(name, "index.stash.")
}

// decideLock keeps an agent away from a file that a git outside is writing at this
// moment: that git would take the agent's content for its own.
func (p *policy) decideLock(op access.Op, place string) *DeniedError {
	id, _, there := p.git.at(place)
	if op == access.OpCreate || !there || p.git.locks.has(id) {
		return nil // what is there is not made again
	}
	return p.gitDenied(op, place, RuleProtected, "a git elsewhere holds this lock, and what is written to it would be taken for its own; if none does, it is left over from one that ended, and may be removed outside")
}

// GitConfigLock reports whether a place is that of the lock of a configuration.
// Decide refuses to make one (RuleGitContent); a surface that makes files only where
// there are none may go on.
func (r inside) GitConfigLock(place string) bool {
	if r.git == nil || !isGitLockName(place) {
		return false
	}
	at, ok := r.git.find(place, 0)
	return ok && isConfigLock(at.rest)
}
