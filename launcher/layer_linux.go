package launcher

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lookAtLayers finds where layers and what is beneath them lie. A directory that the host
// does not have has nothing to show.
func lookAtLayers(layers []Layer, written []string) (found []hostLayer, err error) {
	for _, l := range layers {
		at := hostLayer{Path: l.Path}
		if at.Dir, err = filepath.EvalSymlinks(l.Dir); err != nil {
			return nil, &SetupError{Step: "show a cache", Err: err}
		}
		if !l.Own {
			at.Lower, err = realDir(l.Path, written)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, &SetupError{Step: "show a cache", Err: fmt.Errorf("%q: %w", l.Path, err), Fix: "make it a directory of your own that no run could write, or leave the cache out"}
			}
		}
		found = append(found, at)
	}
	return found, nil
}

// layerFix says what helps where a layer cannot be had.
const layerFix = "keep pinfold's state on a file system such as ext4, xfs or btrfs ($XDG_STATE_HOME), or leave --cache out"

// takeLayer makes the mount of a layer, detached: an overlay over the host's directory,
// or the layer alone. No link is followed: lookAtHost has found where the paths lead.
func takeLayer(s planStep) (fd int, err error) {
	failed := func(err error, fix string) (int, error) {
		return -1, &SetupError{Step: "lay a private layer over the cache " + s.Path, Err: err, Fix: fix}
	}
	upper, err := openHost(s.Layer + "/upper")
	if err != nil {
		return failed(fmt.Errorf("its directory in pinfold's state: %w", err), "'pinfold cache prune --all' begins anew")
	}
	defer unix.Close(upper)
	if s.From == "" {
		if fd, err = clone(upper, "", attrQuiet, unix.AT_EMPTY_PATH); err != nil {
			return failed(err, "")
		}
		return fd, nil
	}
	if major, minor := kernelVersion(); major < 5 || major == 5 && minor < 11 {
		return failed(fmt.Errorf("this is Linux %d.%d, and overlays for ordinary users need 5.11", major, minor), "leave --cache out, and keep a home with --home")
	}
	work, err := openHost(s.Layer + "/work")
	if err != nil {
		return failed(fmt.Errorf("its directory in pinfold's state: %w", err), "'pinfold cache prune --all' begins anew")
	}
	defer unix.Close(work)
	lower, err := openHost(s.From)
	if err != nil {
		return failed(err, "")
	}
	defer unix.Close(lower)
	// Without them the kernel would go on, and lose which directories were made anew.
	const attr = "user.pinfold"
	if err := errors.Join(unix.Setxattr(procFD(work), attr, nil, 0), unix.Removexattr(procFD(work), attr)); err != nil {
		return failed(fmt.Errorf("the file system of %q keeps no extended attributes: %w", s.Layer, err), layerFix)
	}
	// userxattr also for root, who may be so in a container alone. It has the kernel
	// follow no name that a file's attributes give, neither for data nor for directories
	// (redirect_dir, metacopy).
	fd, err = newMount("overlay", attrQuiet, "lowerdir="+procFD(lower), "upperdir="+procFD(upper), "workdir="+procFD(work), "userxattr", "xino=off", "index=off")
	if err == unix.ENODEV {
		return failed(errors.New("this kernel has no overlay file system"), "'modprobe overlay' as root, or leave --cache out")
	}
	if err != nil {
		return failed(fmt.Errorf("overlay in %q: %w", s.Layer, err), layerFix)
	}
	return fd, nil
}

// procFD is a path to what a descriptor is open on, for as long as /proc is the host's.
func procFD(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// openHost opens a path of the host without following links, as O_PATH.
func openHost(p string) (int, error) {
	top, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(top)
	return walk(top, p)
}
