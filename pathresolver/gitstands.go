package pathresolver

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// standsAt says what stands at a place. What cannot be looked at, for want of
// descriptors say, counts as there.
func (r *Resolver) standsAt(place string) (id resolved.FileID, typ fs.FileMode, ok bool) {
	fd, err := r.openPlace(place, oPath|oNoFollow, 0)
	switch err {
	case nil:
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.EXDEV, syscall.ENAMETOOLONG:
		return resolved.FileID{}, 0, false
	default:
		return resolved.FileID{}, fs.ModeIrregular, true
	}
	defer closePath(fd)
	a, err := arrivalOf(fd)
	if err != nil {
		return resolved.FileID{}, fs.ModeIrregular, true
	}
	return a.ID, a.Mode.Type(), true
}

// arrivalOf describes the file behind a descriptor.
func arrivalOf(fd handle) (resolved.Arrival, error) {
	var st stat
	if err := fstat(fd, &st); err != nil {
		return resolved.Arrival{}, err
	}
	id, err := fileID(fd)
	return resolved.Arrival{Mode: fsat.FileMode(st.Mode), ID: id}, err
}

// kindsIn says of names in a directory what they are; done ends that. No link is
// followed.
func (r *Resolver) kindsIn(dir string) (kindOf func(name string) (kind fs.FileMode, there bool), done func()) {
	fd, err := r.openPlace(dir, oPath|oDirectory, 0)
	if err != nil {
		return func(string) (fs.FileMode, bool) { return 0, false }, func() {}
	}
	return func(name string) (fs.FileMode, bool) {
		var st stat
		err := lstatat(fd, name, &st)
		return fsat.FileMode(st.Mode).Type(), err == nil
	}, func() { closePath(fd) }
}

// namesIn lists a directory, at most maxGitNames of it.
func (r *Resolver) namesIn(place string) []string {
	fd, err := r.openPlace(place, os.O_RDONLY|oDirectory, 0)
	if err != nil {
		return nil
	}
	defer closeHandle(fd)
	list, _ := names(fd, maxGitNames)
	return list
}

// noteMadeIn notes a directory that was made at name in dir.
func (r *Resolver) noteMadeIn(dir handle, name, place string) {
	if r.git == nil {
		return
	}
	fd, err := openat(dir, name, oPath|oNoFollow|oDirectory, 0)
	if err != nil {
		return // gone: it counts as somebody else's
	}
	defer closePath(fd)
	if id, err := fileID(fd); err == nil {
		r.noteMade(place, fs.ModeDir, id)
	}
}

// decideArrivals is DecideArrival of what is at name in dir, and the other way
// where two names are exchanged.
func (r *Resolver) decideArrivals(fromDir handle, from entry, toDir handle, to entry, exchange bool) error {
	if r.git == nil {
		return nil
	}
	one := func(dir handle, e entry, toPlace string) error {
		fd, err := openat(dir, e.name, oPath|oNoFollow, 0)
		if err != nil {
			return err
		}
		defer closePath(fd)
		a, err := arrivalOf(fd)
		if err != nil {
			return err
		}
		if d := (inside{r}).DecideArrival(e.place, toPlace, a); d != nil {
			return d
		}
		return nil
	}
	if err := one(fromDir, from, to.place); err != nil || !exchange {
		return err
	}
	return one(toDir, to, from.place)
}

// What is decided about git directories rests on what stands there: who made a
// directory, and whether a file HEAD makes it a repository. It must still be so when
// the operation is done, whatever else goes on in this process. So a change is
// decided and done under gitGuard.acting, side by side with others; what could
// alter the answers for others is alone: a move, a hard link, and a file HEAD.
// The lock is not held while waiting for anybody, and never taken twice (I29).

// gitHold keeps decisions about git directories true until its release.
type gitHold struct {
	g     *gitGuard
	alone bool
}

// hold is to be taken before op is decided. It must be released.
func (p *policy) hold(op access.Op) gitHold {
	return p.git.hold(op, op == access.OpRename || op == access.OpLink)
}

// holdFile is hold for making or changing a file at a place.
func (p *policy) holdFile(op access.Op, place string) gitHold { return p.git.hold(op, isHead(place)) }

func (g *gitGuard) hold(op access.Op, alone bool) gitHold {
	switch {
	case g == nil || op == access.OpRead:
		return gitHold{}
	case alone:
		g.acting.Lock()
		g.turns.Add(1)
	default:
		g.acting.RLock()
	}
	return gitHold{g, alone}
}

func (h gitHold) release() {
	switch {
	case h.g == nil:
	case h.alone:
		h.g.acting.Unlock()
	default:
		h.g.acting.RUnlock()
	}
}

// turn is a number that stays the same as long as no directory that was opened has
// been moved through this resolver.
func (p *policy) turn() uint64 {
	if p.git == nil {
		return 0
	}
	return p.git.turns.Load()
}

// heldDir is an open directory, and where it was at a turn.
type heldDir struct {
	fd    handle
	place string
	turn  uint64
}
