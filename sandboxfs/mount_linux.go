package sandboxfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	fsName = "pinfold"

	// largeRequest is the most that one read or write moves, in bytes.
	largeRequest = 1 << 20
	// smallRequest is the same where the kernel moves the data itself or where
	// its read-ahead sets the size anyway. Each reader of a connection holds a
	// buffer of this size.
	smallRequest = 128 << 10
)

// mounted is one connection that Mount put somewhere.
type mounted struct {
	part *part
	path string
	dev  uint64
	byFM bool // by fusermount3
	lazy bool // detached while it was in use
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
		fmt.Sprintf("max_read=%d", p.requestSize()),
	}
	if v.o.DefaultPermissions {
		opts = append(opts, "default_permissions")
	}
	if v.o.AllowOther {
		opts = append(opts, "allow_other")
	}
	return fsName, "fuse." + fsName, flags, strings.Join(opts, ",")
}

// Serve takes over fuseFD, on which the i-th part was mounted, and returns
// when requests are answered.
func (v *View) Serve(i, fuseFD int) error {
	return v.serve(v.parts[i], "/dev/fd/"+strconv.Itoa(fuseFD))
}

func (v *View) serve(p *part, where string) error {
	server, err := fuse.NewServer(p, where, p.serverOptions())
	if err != nil {
		return fmt.Errorf("serve part %q: %w", p.Place, err)
	}
	v.serving.Add(1)
	go func() {
		defer v.serving.Done()
		server.Serve()
		p.ended.Store(true)
	}()
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
		if err := v.serve(v.parts[0], dir); err != nil {
			return err
		}
		v.mounted = append(v.mounted, mounted{part: v.parts[0], path: dir, byFM: true})
		return silencePoll(dir)
	}
	for i := range v.parts {
		if err := v.mountPart(i, filepath.Join(dir, v.parts[i].Place)); err != nil {
			_, undo := v.unmount(unix.MNT_FORCE)
			return errors.Join(err, undo)
		}
	}
	return nil
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
	v.mounted = append(v.mounted, mounted{part: v.parts[i], path: at})
	if err := v.Serve(i, fd); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(at, &st); err == nil {
		v.mounted[len(v.mounted)-1].dev = st.Dev
	}
	if v.parts[i].File {
		return pollOnce(at)
	}
	return silencePoll(at)
}

// pollName is a file that go-fuse makes up in the root of each part, to be
// polled. It answers for that name itself; nothing is ever renamed to it.
const pollName = ".go-fuse-epoll-hack"

// silencePoll has the server say once that it knows no POLL. Otherwise a Go
// program that serves a view and opens a file in it can stop: the runtime
// polls new files on a thread that it believes cannot block.
func silencePoll(dir string) error {
	if err := pollOnce(filepath.Join(dir, pollName)); err != nil {
		return fmt.Errorf("first request to %q: %w", dir, err)
	}
	return nil
}

func pollOnce(file string) error {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
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
		late, e := v.mounted[i].unmount(busy)
		lazily = lazily || late
		err = errors.Join(err, e)
	}
	return lazily, err
}

// gone reports whether somebody else has unmounted it. What is mounted at the
// same path by now is not ours to take away; a dead mount still is.
func (m *mounted) gone() bool {
	var st unix.Stat_t
	return m.part.ended.Load() && unix.Lstat(m.path, &st) != unix.ENOTCONN
}

func (m *mounted) unmount(busy int) (lazily bool, err error) {
	if m.path == "" || m.gone() {
		return false, nil
	}
	if m.byFM {
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
