package launcher

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// viewMounter mounts the views for the set-up helper, and keeps a
// descriptor of each root so that it can end the connection later.
type viewMounter struct {
	cfg  *childConfig
	self int // the host's /proc/self/fd, which outlives the host's root
	dev  int // the host's /dev, likewise

	mu    sync.Mutex // guards the next two
	roots []int
	shown map[[2]int]int // the roots, by view and mount, for the repeater

	paused bool        // the supervisor is about to stop on purpose
	tops   map[int]int // the roots of whole views, by view
}

// mount is called for each mount, parents first. The set-up helper opens /dev/fuse
// itself: a descriptor that was opened outside its user namespace cannot be
// mounted. It is called before init makes the process namespace, so that
// requests carry the process numbers of the host.
func (v *viewMounter) mount(t *tree, s planStep) error {
	return v.attach(s.View, s.Mount, v.cfg.Mounts[s.View][s.Mount],
		func() (int, error) { return v.target(t, s) }, func() (int, error) { return t.open(s.Path) })
}

// add is mount for one that was added to a view while the command runs. The
// project's root is the only way there: the host's is gone.
func (v *viewMounter) add(m message) error {
	top, ok := v.tops[m.View]
	if !ok || m.Args == nil {
		return errors.New("there is no such view")
	}
	open := func() (int, error) {
		return walk(top, strings.TrimPrefix(string(m.Path), path.Clean(v.rootOf(m.View))+"/"))
	}
	return v.attach(m.View, m.Mount, *m.Args, open, open)
}

// rootOf is where a view is shown.
func (v *viewMounter) rootOf(view int) string {
	if view > 0 {
		return v.cfg.Plan.Beside[view-1]
	}
	return v.cfg.Plan.Root
}

// attach mounts a mount on what target opens; mounted opens its root afterwards.
func (v *viewMounter) attach(view, mount int, args mountArgs, target, mounted func() (int, error)) error {
	fuse, err := unix.Openat(v.dev, "fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		fix, line := fuseFix(err)
		return &SetupError{Step: "open /dev/fuse", Err: err, Fix: strings.TrimSuffix(fix+": "+line, ": ")}
	}
	// The mount options name a descriptor that was agreed on beforehand.
	if err := unix.Dup3(fuse, fdFuse, unix.O_CLOEXEC); err != nil {
		unix.Close(fuse)
		return err
	}
	unix.Close(fuse)
	at, err := target()
	if err != nil {
		return err
	}
	defer unix.Close(at)
	// By descriptor, so that nothing put at the path meanwhile is followed.
	if err := unix.Fchdir(v.self); err != nil {
		return err
	}
	// What is read-only is the mount and not the file system, in which the host's
	// changes are repeated (hearing).
	if err := unix.Mount(args.Source, strconv.Itoa(at), args.FSType, args.Flags&^unix.MS_RDONLY, args.Data); err != nil {
		return &SetupError{Step: "mount the view", Err: err, Fix: "run \"pinfold doctor\""}
	}
	if err := send(fdSetup, message{Verb: sayFuse, View: view, Mount: mount}, fdFuse); err != nil {
		return err
	}
	// The last copy outside the supervisor: its death must end the connection.
	if err := unix.Dup3(fdConfig, fdFuse, unix.O_CLOEXEC); err != nil {
		return err
	}
	if err := v.served("the view"); err != nil {
		return err
	}
	root, err := mounted()
	if err != nil {
		return err
	}
	if args.Flags&unix.MS_RDONLY != 0 {
		// Nobody but this process sees it yet.
		if err := unix.MountSetattr(root, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return &SetupError{Step: "make the view read-only", Err: err}
		}
	}
	v.mu.Lock()
	v.roots = append(v.roots, root)
	v.shown[[2]int{view, mount}] = root
	v.mu.Unlock()
	if _, nested := v.tops[view]; !nested {
		v.tops[view] = root
	}
	// Until it is asked for, the kernel believes that the root of a connection
	// belongs to uid 0, which has no name in our user namespace: creating
	// anything there would be EACCES.
	var st unix.Stat_t
	return unix.Fstat(root, &st)
}

// patience is how long the supervisor may say nothing, in milliseconds; -1 is without end.
func (v *viewMounter) patience() int {
	if v.paused {
		return -1
	}
	return int(v.cfg.Plan.HangMillis)
}

// served waits until the supervisor serves what it was handed.
func (v *viewMounter) served(what string) error {
	for {
		m, _, err := receive(fdSetup, v.patience())
		v.paused = m.Verb == sayPause
		switch {
		case err != nil:
			return fmt.Errorf("wait for %s: %w", what, err)
		case m.Verb == sayServed:
			return nil
		case m.Verb == sayFailed:
			return errors.New(what + " is not served: " + m.Reason)
		}
		// A sign of life came first.
	}
}

// target opens the mount point of a mount. Nested ones lie in the project,
// where others write: no link is followed there, and the walk starts at the
// root of the view's first mount.
func (v *viewMounter) target(t *tree, s planStep) (int, error) {
	top, nested := v.tops[s.View]
	if !nested {
		return t.open(s.Path)
	}
	return walk(top, strings.TrimPrefix(s.Path, path.Clean(v.rootOf(s.View))+"/"))
}

// written lists the paths of the mounts that are not read-only.
func (v *viewMounter) written() (list []string) {
	for _, s := range v.cfg.Plan.Steps {
		if s.Do == doView && v.cfg.Mounts[s.View][s.Mount].Flags&unix.MS_RDONLY == 0 {
			list = append(list, s.Path)
		}
	}
	return list
}

// abort ends the connections, also while programs wait in them, without their server's
// help: umount(2) with MNT_FORCE aborts the requests that are under way. It
// works on descriptors, since a path through a dead connection does not.
func (v *viewMounter) abort() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if unix.Fchdir(v.self) != nil {
		return
	}
	for i := len(v.roots) - 1; i >= 0; i-- {
		_ = unix.Unmount(strconv.Itoa(v.roots[i]), unix.MNT_FORCE)
	}
}

// fuseFix says what lets /dev/fuse be opened, and the line that does it.
func fuseFix(err error) (fix, paste string) {
	missing := err == unix.ENOENT || err == unix.ENODEV || err == unix.ENXIO
	switch {
	case missing && container(), err == unix.EPERM:
		return "give the container the device: flags of docker run and podman run", deviceFlag
	case missing:
		return "load the module", "sudo modprobe fuse"
	case err == unix.EACCES:
		return "let ordinary users open it", "sudo chmod 0666 /dev/fuse"
	}
	return "", ""
}
