//go:build !portable

package pathresolver

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// handles is what a Resolver holds open on Linux.
type handles struct {
	dir     handle
	dirID   identity
	mounts  []mount  // mounts beneath the root that stood there at New
	refused []string // places of those that are not admitted
	openat2 bool
}

// Close releases the root. Handles that were given out stay valid.
func (r *Resolver) Close() error {
	for _, m := range r.mounts {
		_ = unix.Close(m.fd)
	}
	r.mounts = nil
	dir := r.dir
	r.dir = noHandle
	if dir == noHandle {
		return os.ErrClosed
	}
	return unix.Close(dir)
}

// Mode says how places are reached: "openat2", "walker", or "os.Root" on
// systems other than Linux.
func (r *Resolver) Mode() string {
	if r.openat2 {
		return "openat2"
	}
	return "walker"
}

// noRoot marks the handles as not open yet.
func (r *Resolver) noRoot() { r.dir = noHandle }

// refusedMounts are the places of mounts that are not admitted.
func (r *Resolver) refusedMounts() []string { return r.refused }

// openRoot pins the directory at path, whose links are resolved already: one that
// has appeared since is not followed. Without openat2 that holds for the last
// name only.
func (r *Resolver) openRoot(path string, forceWalker bool) error {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW
	fd, err := fsat.Openat2(unix.AT_FDCWD, path, flags, 0, unix.RESOLVE_NO_SYMLINKS)
	if err == unix.ENOSYS || err == unix.EPERM || err == unix.EAGAIN { // an old kernel, or a seccomp filter
		fd, err = fsat.Openat(unix.AT_FDCWD, path, flags, 0)
	}
	if err != nil {
		return err
	}
	r.dir = fd
	if r.dirID, err = fsat.Identify(fd); err != nil {
		return err
	}
	if r.openat2 = !forceWalker && fsat.HasOpenat2(fd); !r.openat2 {
		if err := checkNoFollow(); err != nil {
			return err
		}
	}
	if r.mounts, err = mountsBeneath(r, path); err != nil {
		return err
	}
	return nil
}

// settle comes when the rules about reading are complete.
func (r *Resolver) settle() {
	r.plain = r.openat2 && !r.hidesAny() && r.askRead.empty() && r.mask.empty() && len(r.mounts) == 0
}

// following are the flags of a read that may follow links inside the root.
const following = fsat.ResolveBeneath | fsat.ResolveNoMagicLinks | fsat.ResolveNoXDev

// beneath are the flags of a walk that can only go down: no link is followed,
// so the names of the place are the directories that were passed.
const beneath = fsat.ResolveBeneath | fsat.ResolveNoSymlinks | fsat.ResolveNoMagicLinks | fsat.ResolveNoXDev

// maxAgain bounds the retries of one openat2, which says EAGAIN when a rename
// raced with a ".." of the path.
const maxAgain = 128

// openFollowed opens what an unsafe path leads to, for reading where no rule
// tells places apart (plain): the kernel may follow links then. ELOOP sends the
// caller to the walker.
func (r *Resolver) openFollowed(rel string, flags int) (handle, error) {
	for range maxAgain {
		fd, err := fsat.Openat2(r.dir, rel, flags, 0, following)
		switch err {
		case unix.EAGAIN:
			continue
		case unix.EXDEV:
			err = unix.ELOOP
		}
		return fd, err
	}
	return noHandle, unix.ELOOP
}

// openNamed is openFollowed where rules tell places apart: the kernel follows the links,
// and says what the file that it has opened is called at that moment, which is what a walk
// could have found. Where anything is in doubt, or refused, ok is false, and the walker has
// the answer: it takes three times as long on a path of five links.
func (r *Resolver) openNamed(rel string, flags int) (fd handle, place string, ok bool) {
	if !r.openat2 || r.bound || len(r.mounts) > 0 {
		return noHandle, "", false
	}
	fd, err := r.openFollowed(rel, flags)
	if err != nil {
		return noHandle, "", false
	}
	if place, ok = r.placeOfHandle(fd); !ok || !r.allows(access.OpRead, place) {
		closeHandle(fd)
		return noHandle, "", false
	}
	return fd, place, true
}

// placeOfHandle is the place of what a handle holds. It is not told of what was removed,
// and of nothing while the root is elsewhere than it was.
func (r *Resolver) placeOfHandle(fd handle) (string, bool) {
	if root, err := fsat.PathOf(r.dir); err != nil || root != r.root {
		return "", false
	}
	path, err := fsat.PathOf(fd)
	if err != nil || strings.HasSuffix(path, fsat.Deleted) {
		return "", false
	}
	return r.placeOf(path)
}

// openPlace opens a place without following any link, the last component
// included, and without crossing into a mount that appeared after New. It
// applies no rule: the caller has decided. flags are those of open(2); with
// O_PATH|O_NOFOLLOW the place may be a link itself. A trailing slash demands a
// directory. mode counts only with
// O_CREAT or O_TMPFILE, and is subject to the umask. The caller owns the
// descriptor, which is close-on-exec. Errors are plain errno values: ELOOP
// when a component has become a link, EXDEV at a foreign mount.
func (r *Resolver) openPlace(place string, flags int, mode uint32) (handle, error) {
	dir, home, rest := r.dir, r.dirID, place
	if len(r.mounts) > 0 {
		var m *mount
		if m, rest = r.mountOf(place); m != nil {
			dir, home = m.fd, m.id
			if rest == "." && m.id.Mode&unix.S_IFMT != unix.S_IFDIR {
				return reopen(m.fd, flags) // a file that is a mount point
			}
		}
	}
	if r.openat2 {
		return fsat.Openat2(dir, rest, flags, mode, beneath)
	}
	return r.stepTo(dir, home, rest, flags, mode)
}

// reopen opens the object behind a descriptor anew.
func reopen(fd, flags int) (int, error) {
	return fsat.Openat(unix.AT_FDCWD, fsat.ProcPath(fd), flags&^(unix.O_NOFOLLOW|unix.O_CREAT|unix.O_EXCL), 0)
}

// openIn opens a name in a held directory as openPlace would: no link is
// followed, no mount is crossed.
func (r *Resolver) openIn(dir handle, name string, flags int) (handle, error) {
	if r.openat2 {
		return fsat.Openat2(dir, name, flags, 0, beneath)
	}
	home, err := fsat.Identify(dir)
	if err != nil {
		return noHandle, err
	}
	return r.lastStep(dir, name, flags, 0, home)
}

// openBeneath opens name from a directory that is held, or, where another
// admitted mount lies on the way, place from that one.
func (r *Resolver) openBeneath(dir handle, id identity, name, place string, flags int) (handle, error) {
	switch {
	case len(r.mounts) > 0:
		return r.openPlace(place, flags, 0) // only the whole place tells which mount holds it
	case r.openat2:
		return fsat.Openat2(dir, name, flags, 0, beneath)
	}
	return r.stepTo(dir, id, name, flags, 0)
}

// checkNoFollow makes sure that O_DIRECTORY|O_NOFOLLOW does not follow a link:
// the walker rests on it, and one version of gVisor got it wrong.
func checkNoFollow() error {
	const link = "/proc/self" // a link to a directory on every Linux system
	fd, err := fsat.Openat(unix.AT_FDCWD, link, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	id, err := fsat.Identify(fd)
	if err == nil && id.Mode&unix.S_IFMT == unix.S_IFDIR {
		return fmt.Errorf("this kernel follows links under O_NOFOLLOW, and openat2 is missing: no safe way to resolve paths")
	}
	return nil
}
