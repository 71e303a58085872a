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
	part *part
	path string
	id   uint64 // of the mount, as statx(2) has it
	dev  uint64 // of its files; 0 if it is not ours to abort
	byFM bool   // by fusermount3
	lazy bool   // detached while it was in use
	// control ends the connection (abort); -1 where it is opened when it is needed.
	control int
}

// MountArgs are the arguments of mount(2) for the i-th part, for a process
// that mounts fuseFD, its open /dev/fuse, at Parts()[i].Place beneath the
// mount point of the first part. Identifiers are those of its user namespace.
func (v *View) MountArgs(i, fuseFD int) (source, fstype string, flags uintptr, data string) {
	p := v.parts[i]
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

// mountOptions are those that do not depend on who mounts.
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

// Serve takes over fuseFD, on which the i-th part was mounted, and returns
// when requests are answered.
func (v *View) Serve(i, fuseFD int) error {
	p := v.parts[i]
	c, err := v.server.Connect(fuseFD, p, p.serverOptions(), v.serving.Done)
	if err != nil {
		return fmt.Errorf("serve part %q: %w", p.Place, err)
	}
	p.start(c)
	v.serving.Add(1)
	c.Serve()
	return nil
}

// Mount mounts all parts at dir and serves them. As root it uses mount(2); for
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
		if len(v.parts) > 1 {
			return errors.New("an ordinary user can mount one connection only: set SingleConnection")
		}
		fd, err := v.fusermount(dir)
		if err != nil {
			return err
		}
		id, _ := mountAt(dir)
		v.mounted = append(v.mounted, mounted{part: v.parts[0], path: dir, id: id, byFM: true, control: -1})
		if err := v.Serve(0, fd); err != nil {
			return err
		}
		return silencePoll(dir, v.parts[0])
	}
	for i := range v.parts {
		if err := v.mountPart(i, filepath.Join(dir, v.parts[i].Place)); err != nil {
			_, undo := v.unmount(unix.MNT_FORCE)
			return errors.Join(err, undo)
		}
	}
	return nil
}

// fusermount mounts the only part for an ordinary user.
func (v *View) fusermount(dir string) (fd int, err error) {
	opts := append(v.mountOptions(), "fsname="+fsName, "subtype="+fsName)
	if v.parts[0].ReadOnly {
		opts = append(opts, "ro")
	}
	return fusermountMount(dir, strings.Join(opts, ","))
}

func (v *View) mountPart(i int, at string) error {
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/fuse: %w", err)
	}
	source, fstype, flags, data := v.MountArgs(i, fd)
	if err := unix.Mount(source, at, fstype, flags, data); err != nil {
		closeFD(fd)
		return fmt.Errorf("mount part %q at %q: %w", v.parts[i].Place, at, err)
	}
	id, dev := mountAt(at)
	v.mounted = append(v.mounted, mounted{part: v.parts[i], path: at, id: id, dev: dev, control: -1})
	if err := v.Serve(i, fd); err != nil {
		return err
	}
	if v.o.Unmounter != nil { // it may not be possible later
		m := &v.mounted[len(v.mounted)-1]
		if m.control, err = fuseconn.OpenAbort(m.dev); err != nil {
			v.o.Logger.Print(err) // it ends when its last user goes
		}
	}
	return silencePoll(at, v.parts[i])
}

func silencePoll(at string, p *part) error {
	if err := fuseconn.SilencePoll(at, p.File); err != nil {
		return fmt.Errorf("first request to %q: %w", at, err)
	}
	return nil
}

// Unmount takes away what Mount mounted. It always succeeds: where something
// still uses the view it is detached, lazily is true, and the connection ends
// when the last user is gone or Close is called.
func (v *View) Unmount() (lazily bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unmount(0)
}

// unmount takes away what Mount mounted; busy are flags of umount2(2) for what
// is in use.
func (v *View) unmount(busy int) (lazily bool, err error) {
	for i := len(v.mounted) - 1; i >= 0; i-- {
		late, e := v.mounted[i].unmount(busy, v.o.Unmounter)
		lazily = lazily || late
		err = errors.Join(err, e)
	}
	return lazily, err
}

// mountAt returns which mount a path leads to, and the device of its files. It
// makes no request, so it works for one that is not served yet or not any more.
func mountAt(path string) (id, dev uint64) {
	var sx unix.Statx_t
	const noRequest = unix.AT_SYMLINK_NOFOLLOW | unix.AT_STATX_DONT_SYNC
	if err := unix.Statx(unix.AT_FDCWD, path, noRequest, unix.STATX_MNT_ID_UNIQUE, &sx); err != nil {
		return 0, 0
	}
	return sx.Mnt_id, unix.Mkdev(sx.Dev_major, sx.Dev_minor)
}

// gone reports whether somebody else has unmounted it: what is mounted at the
// same path by now is not ours to take away.
func (m *mounted) gone() bool {
	id, _ := mountAt(m.path)
	return id != 0 && id != m.id
}

func (m *mounted) unmount(busy int, by func(path string, force bool) (bool, error)) (lazily bool, err error) {
	if m.path == "" || m.gone() {
		return false, nil
	}
	if by != nil {
		lazily, err = by(m.path, busy&unix.MNT_FORCE != 0)
	} else if m.byFM {
		lazily, err = fusermountUnmount(m.path)
	} else if err = unix.Unmount(m.path, unix.UMOUNT_NOFOLLOW); err == unix.EBUSY {
		lazily, err = true, unix.Unmount(m.path, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH|busy)
	}
	if err == unix.EINVAL || err == unix.ENOENT {
		err = nil // somebody else was faster
	}
	if err != nil {
		return lazily, fmt.Errorf("unmount %q: %w", m.path, err)
	}
	m.path, m.lazy = "", lazily
	return lazily, nil
}
