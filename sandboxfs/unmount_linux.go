package sandboxfs

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

const (
	// goneSoon is how long an unmounted connection may take to end by itself.
	goneSoon = 500 * time.Millisecond
	// goneWithin bounds how long Close waits.
	goneWithin = 5 * time.Second
)

// waitGone waits until no connection is served. It aborts those of Mount that
// are still in use, or that another mount namespace has a copy of.
func (v *View) waitGone() error {
	gone := make(chan struct{})
	go func() { v.serving.Wait(); close(gone) }()
	err := v.abort(func(m *mounted) bool { return m.lazy })
	soon, late := time.NewTimer(goneSoon), time.NewTimer(goneWithin)
	defer soon.Stop()
	defer late.Stop()
	for {
		select {
		case <-gone:
			return nil
		case <-soon.C:
			err = errors.Join(err, v.abort(func(*mounted) bool { return true }))
		case <-late.C:
			return errors.Join(fmt.Errorf("%s: a connection is still mounted somewhere", v), err)
		}
	}
}

func (v *View) abort(which func(*mounted) bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var err error
	for i := range v.mounted {
		if m := &v.mounted[i]; which(m) {
			err = errors.Join(err, m.abort())
		}
	}
	return err
}

// abort ends the connection, also while programs use it.
func (m *mounted) abort() error {
	if m.dev == 0 || m.part.conn == nil {
		return nil
	}
	fd := m.control
	if fd < 0 {
		var err error
		if fd, err = fuseconn.OpenAbort(m.dev); err != nil || fd < 0 {
			return err
		}
		defer closeFD(fd)
	}
	return m.part.conn.Abort(fd)
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

// mountAt returns the mount that a path leads to and the device of its files. It makes
// no FUSE request, so it works for a view that is not served yet or any more.
func mountAt(path string) (id, dev uint64) {
	var sx unix.Statx_t
	const noRequest = unix.AT_SYMLINK_NOFOLLOW | unix.AT_STATX_DONT_SYNC
	if err := unix.Statx(unix.AT_FDCWD, path, noRequest, unix.STATX_MNT_ID_UNIQUE, &sx); err != nil {
		return 0, 0
	}
	return sx.Mnt_id, unix.Mkdev(sx.Dev_major, sx.Dev_minor)
}

// gone reports whether it was unmounted by others: what is mounted at the
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
