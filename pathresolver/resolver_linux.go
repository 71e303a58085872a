//go:build !portable

package pathresolver

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// handles is what a Resolver holds open on Linux.
type handles struct {
	rootFD  int
	rootID  fsat.Identity
	mounts  []mount  // mounts beneath the root that stood there at New
	refused []string // places of those that are not admitted
	openat2 bool
	plain   bool // no rule about reading and no mount: a read may follow links in the kernel
}

// Close releases the root. Handles that were given out stay valid.
func (r *Resolver) Close() error {
	for _, m := range r.mounts {
		_ = unix.Close(m.fd)
	}
	r.mounts = nil
	fd := r.rootFD
	r.rootFD = -1
	if fd < 0 {
		return os.ErrClosed
	}
	return unix.Close(fd)
}

// Mode says how places are reached: "openat2", "walker", or "os.Root" on
// systems other than Linux.
func (r *Resolver) Mode() string {
	if r.openat2 {
		return "openat2"
	}
	return "walker"
}

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
	r.rootFD = fd
	if r.rootID, err = fsat.Identify(fd); err != nil {
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
	r.plain = !r.hidesAny() && r.askRead.empty() && len(r.mounts) == 0
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
