package sandboxfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

const fsName = "pinfold"

// mounted is one connection that Mount put somewhere.
type mounted struct {
	part *connection
	path string
	id   uint64 // of the mount, as statx(2) has it
	dev  uint64 // of its files; 0 if it is not ours to abort
	byFM bool   // by fusermount3
	lazy bool   // detached while it was in use
	// control ends the connection (abort); -1 where it is opened when it is needed.
	control int
}

// MountArgs are the arguments of mount(2) for the i-th mount, for a process
// that mounts fuseFD, its open /dev/fuse, at Mounts()[i].Place beneath the
// mount point of the first mount. Identifiers are those of its user namespace.
func (v *View) MountArgs(i, fuseFD int) (source, fstype string, flags uintptr, data string) {
	p := v.layout.at(i)
	flags = unix.MS_NOSUID | unix.MS_NODEV
	if p.ReadOnly {
		flags |= unix.MS_RDONLY
	}
	mode := uint32(unix.S_IFDIR)
	if p.File {
		mode = unix.S_IFREG
	}
	opts := []string{
		"fd=" + strconv.Itoa(fuseFD),
		"rootmode=" + strconv.FormatUint(uint64(mode), 8),
		fmt.Sprintf("user_id=%d", v.o.Owner.UID),
		fmt.Sprintf("group_id=%d", v.o.Owner.GID),
	}
	opts = append(opts, v.mountOptions()...)
	return fsName, "fuse." + fsName, flags, strings.Join(opts, ",")
}

// mountOptions are the same for root and for an ordinary user.
func (v *View) mountOptions() []string {
	opts := []string{fmt.Sprintf("max_read=%d", fuseconn.MaxData)}
	if v.o.DefaultPermissions {
		opts = append(opts, "default_permissions")
	}
	if v.o.AllowOther {
		opts = append(opts, "allow_other")
	}
	return opts
}

// Serve takes over fuseFD, on which the i-th mount was mounted, and returns
// when requests are answered.
func (v *View) Serve(i, fuseFD int) error {
	p := v.layout.at(i)
	c, err := v.server.Connect(fuseFD, p, p.serverOptions(), v.serving.Done)
	if err != nil {
		return fmt.Errorf("serve mount %q: %w", p.Place, err)
	}
	p.start(c)
	v.serving.Add(1)
	c.Serve()
	return nil
}

// Mount mounts all mounts at dir and serves them. As root it uses mount(2); for
// an ordinary user fusermount3 does it, which needs SingleConnection.
func (v *View) Mount(dir string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.mounted != nil || v.closed {
		return errors.New("this view was mounted before")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		if len(v.layout.all()) > 1 {
			return errors.New("an ordinary user can mount one connection only: set SingleConnection")
		}
		fd, err := v.fusermount(dir)
		if err != nil {
			return err
		}
		id, _ := mountAt(dir)
		v.mounted = append(v.mounted, mounted{part: v.layout.at(0), path: dir, id: id, byFM: true, control: -1})
		v.layout.at(0).mountedHere = true
		if err := v.Serve(0, fd); err != nil {
			return err
		}
		return silencePoll(dir, v.layout.at(0))
	}
	for i := range v.layout.all() {
		if err := v.mountOne(i, filepath.Join(dir, v.layout.at(i).Place)); err != nil {
			_, undo := v.unmount(unix.MNT_FORCE)
			return errors.Join(err, undo)
		}
	}
	return nil
}

// fusermount mounts the only mount for an ordinary user.
func (v *View) fusermount(dir string) (fd int, err error) {
	opts := append(v.mountOptions(), "fsname="+fsName, "subtype="+fsName)
	if v.layout.at(0).ReadOnly {
		opts = append(opts, "ro")
	}
	return fusermountMount(dir, strings.Join(opts, ","))
}

func (v *View) mountOne(i int, at string) error {
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/fuse: %w", err)
	}
	source, fstype, flags, data := v.MountArgs(i, fd)
	if err := unix.Mount(source, at, fstype, flags, data); err != nil {
		closeFD(fd)
		return fmt.Errorf("mount %q at %q: %w", v.layout.at(i).Place, at, err)
	}
	id, dev := mountAt(at)
	v.mounted = append(v.mounted, mounted{part: v.layout.at(i), path: at, id: id, dev: dev, control: -1})
	v.layout.at(i).mountedHere = true
	if err := v.Serve(i, fd); err != nil {
		return err
	}
	if v.o.Unmounter != nil { // it may not be possible later
		m := &v.mounted[len(v.mounted)-1]
		if m.control, err = fuseconn.OpenAbort(m.dev); err != nil {
			v.o.Logger.Print(err) // it ends when its last user goes
		}
	}
	return silencePoll(at, v.layout.at(i))
}

func silencePoll(at string, p *connection) error {
	if err := fuseconn.SilencePoll(at, p.File); err != nil {
		return fmt.Errorf("first request to %q: %w", at, err)
	}
	return nil
}
