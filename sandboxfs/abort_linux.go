package sandboxfs

import (
	"errors"
	"fmt"
	"time"

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

// abort ends the connection, whoever uses it.
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
