package sandboxfs

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
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

// abort ends the connection, whoever uses it: their operations fail with
// ENOTCONN. The kernel offers that in a file system of its own, fusectl, by
// device number; it is looked at without being mounted anywhere.
//
// The number is given to somebody else's connection as soon as this one has
// ended. So the file is opened first, and written only if ours is connected
// still: then it had the number when the file was opened, and should it end
// then, the file does nothing any more.
func (m *mounted) abort() error {
	if m.dev == 0 || m.part.conn == nil {
		return nil
	}
	fd := m.control
	if fd < 0 {
		var err error
		if fd, err = m.openControl(); err != nil || fd < 0 {
			return err
		}
		defer closeFD(fd)
	}
	if !m.part.conn.connected() {
		return nil
	}
	_, err := unix.Write(fd, []byte("1"))
	return err
}

// openControl opens the file; -1 where the connection has ended already.
func (m *mounted) openControl() (fd int, err error) {
	fs, err := unix.Fsopen("fusectl", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer closeFD(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	dir, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer closeFD(dir)
	name := strconv.FormatUint(uint64(unix.Minor(m.dev)), 10) + "/abort"
	fd, err = fsat.Openat(dir, name, unix.O_WRONLY, 0)
	if err == unix.ENOENT {
		return -1, nil
	}
	return fd, err
}
