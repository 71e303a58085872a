//go:build !portable

package pathresolver

import (
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// standsAt says what stands at a place. What cannot be looked at, for want of
// descriptors say, counts as there.
func (r *Resolver) standsAt(place string) (id FileID, typ fs.FileMode, ok bool) {
	fd, err := r.OpenPlace(place, unix.O_PATH|unix.O_NOFOLLOW, 0)
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EXDEV, unix.ENAMETOOLONG:
		return FileID{}, 0, false
	default:
		return FileID{}, fs.ModeIrregular, true
	}
	defer fsat.ClosePath(fd)
	a, err := arrivalOf(fd)
	if err != nil {
		return FileID{}, fs.ModeIrregular, true
	}
	return a.ID, a.Mode.Type(), true
}

// arrivalOf describes the file behind a descriptor.
func arrivalOf(fd int) (Arrival, error) {
	var st unix.Stat_t
	if err := fsat.Fstat(fd, &st); err != nil {
		return Arrival{}, err
	}
	id, err := fileID(fd)
	return Arrival{Mode: fsat.FileMode(st.Mode), ID: id}, err
}

// kindsIn says of names in a directory what they are; done ends that. No link is
// followed.
func (r *Resolver) kindsIn(dir string) (kindOf func(name string) (kind fs.FileMode, there bool), done func()) {
	fd, err := r.OpenPlace(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return func(string) (fs.FileMode, bool) { return 0, false }, func() {}
	}
	return func(name string) (fs.FileMode, bool) {
		var st unix.Stat_t
		err := fsat.Lstatat(fd, name, &st)
		return fsat.FileMode(st.Mode).Type(), err == nil
	}, func() { fsat.ClosePath(fd) }
}

// usedBy reports whether a .git above the root is one that the caller's git would
// use: it is there, and is the caller's own, or that of who became root by sudo.
func usedBy(dotGit string) bool {
	var st unix.Stat_t
	if unix.Stat(dotGit, &st) != nil {
		return false
	}
	euid := os.Geteuid()
	return int(st.Uid) == euid || euid == 0 && strconv.Itoa(int(st.Uid)) == os.Getenv("SUDO_UID")
}

// namesIn lists a directory, at most maxGitNames of it.
func (r *Resolver) namesIn(place string) []string {
	fd, err := r.OpenPlace(place, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), fsat.ProcPath(fd))
	defer f.Close()
	names, _ := f.Readdirnames(maxGitNames)
	return names
}

// noteMadeIn notes a directory that was made at name in dir.
func (r *Resolver) noteMadeIn(dir int, name, place string) {
	if r.git == nil {
		return
	}
	fd, err := fsat.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return // gone: it counts as somebody else's
	}
	defer fsat.ClosePath(fd)
	if id, err := fileID(fd); err == nil {
		r.NoteMade(place, fs.ModeDir, id)
	}
}

// decideArrivals is DecideArrival of what is at name in dir, and the other way
// where two names are exchanged.
func (r *Resolver) decideArrivals(fromDir int, from entry, toDir int, to entry, exchange bool) error {
	if r.git == nil {
		return nil
	}
	one := func(dir int, e entry, toPlace string) error {
		fd, err := fsat.Openat(dir, e.name, unix.O_PATH|unix.O_NOFOLLOW, 0)
		if err != nil {
			return err
		}
		defer fsat.ClosePath(fd)
		a, err := arrivalOf(fd)
		if err != nil {
			return err
		}
		if d := r.DecideArrival(e.place, toPlace, a); d != nil {
			return d
		}
		return nil
	}
	if err := one(fromDir, from, to.place); err != nil || !exchange {
		return err
	}
	return one(toDir, to, from.place)
}
