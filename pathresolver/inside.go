package pathresolver

import (
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// inside is a Resolver for code that holds places of its own, which it got through
// resolved.Of: it decides about a place and acts on it itself. Its methods stand
// beside what they are about. The ones here are those that the resolver uses, too.
type inside struct{ *Resolver }

func init() {
	resolved.Of = func(r any) any { return inside{r.(*Resolver)} }
}

// Decide says whether op may be done at place: nil if so. kind is the type of what
// OpCreate makes; other operations ignore it. Renames and links have decisions of
// their own.
func (r inside) Decide(op access.Op, place string, kind fs.FileMode) *DeniedError {
	return r.denies(op, place, kind)
}

// Verdict is what the rules say about a place.
func (r inside) Verdict(place string) resolved.Verdict { return r.verdictAt(place) }

func (r inside) BreakLinks(place string) error                  { return r.breakLinks(place) }
func (r inside) DecideLook(place string) *DeniedError           { return r.decideLook(place) }
func (r inside) GitContent(place string) resolved.GitContent    { return r.gitContent(place) }
func (r inside) GitHook(place string) bool                      { return r.gitHook(place) }
func (r inside) GitLock(place string) bool                      { return r.gitLock(place) }
func (r inside) HasLinkNotes() bool                             { return r.hasNotes() }
func (r inside) IsGitLockName(name string) bool                 { return isGitLockName(name) }
func (r inside) NoteLink(before resolved.FileID)                { r.noteLink(before) }
func (r inside) NoteUnlink(before resolved.FileID)              { r.noteUnlink(before) }
func (r inside) VerdictIn(parent, name string) resolved.Verdict { return r.verdictIn(parent, name) }

// HidesName reports whether a place is hidden whose parent is not.
func (r inside) HidesName(place string) bool {
	if r.hide.matches(place) != nil {
		return true
	}
	hidden, _ := r.read.hides(place)
	return hidden
}

func (r inside) CheckGitText(place string, data []byte) *DeniedError {
	return r.checkGitText(place, data)
}

func (r inside) CheckLinks(place string, f resolved.FileID) (breakIt bool, denied *DeniedError) {
	return r.checkLinks(place, f)
}

func (r inside) NoteMade(place string, kind fs.FileMode, f resolved.FileID) {
	r.noteMade(place, kind, f)
}

// OpenFD is OpenFile without the *os.File, for benchmarks: a descriptor that the
// caller owns.
func (r inside) OpenFD(unsafePath string, flag int, perm fs.FileMode) (handle, error) {
	var st stat
	fd, err := r.openRaw(unsafePath, flag, perm, &st)
	if err != nil {
		return noHandle, pathError("open", unsafePath, err)
	}
	return fd, nil
}

func (r inside) OpenPlace(place string, flags int, mode uint32) (handle, error) {
	return r.openPlace(place, flags, mode)
}

// Granted returns a Resolver for one call that was granted something besides. It holds
// the same directory under the same rules, and making it costs no system call. It is
// not to be closed.
func (r inside) Granted(grant Grant) *Resolver {
	with := *r.Resolver
	with.grant = r.grant.or(grant)
	return &with
}

// Bound returns a Resolver for paths that Resolve has returned as places. It follows
// no link: where one has come to stand since, it refuses, so that what is done is done
// at the place that was decided about. It is not to be closed.
func (r inside) Bound() *Resolver {
	to := *r.Resolver
	to.plain, to.bound = false, true
	return &to
}
