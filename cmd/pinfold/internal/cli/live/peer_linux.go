package live

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkOwn refuses a directory that somebody else owns or may use.
func checkOwn(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%q is no directory", dir)
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%q belongs to user %d: a run obeys the user who started it, and nobody else", dir, st.Uid)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%q can be entered by others: chmod 700", dir)
	}
	return nil
}

// peer is the process at the other end of a connection, held so that its number cannot be
// taken for another's.
type peer struct {
	pid   int
	pidfd int
}

func (p *peer) close() { unix.Close(p.pidfd) }

// peerOf is who is there: for a client the process that listens. It is refused unless it
// is this user's, and in the process namespace of this process: what runs inside a run
// has a namespace beneath, though the same user. That is read from the descriptor of the
// process, which needs no right over it: a process that has confined itself has none.
func peerOf(c *net.UnixConn) (p *peer, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var asked error
	err = raw.Control(func(fd uintptr) { p, asked = askPeer(int(fd)) })
	return p, errors.Join(err, asked)
}

var errStranger = errors.New("a run obeys the user who started it, from outside of every run, and nobody else")

func askPeer(fd int) (*peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return nil, os.NewSyscallError("SO_PEERCRED", err)
	}
	if int(cred.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("%w: user %d is not user %d", errStranger, cred.Uid, os.Geteuid())
	}
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err != nil {
		return nil, fmt.Errorf("who is there cannot be told for certain (Linux 6.5 or newer can): %w", os.NewSyscallError("SO_PEERPIDFD", err))
	}
	if err := sameNamespace(pidfd); err != nil {
		unix.Close(pidfd)
		return nil, err
	}
	return &peer{pid: int(cred.Pid), pidfd: pidfd}, nil
}

// sameNamespace looks at the process's numbers, in this namespace and those beneath
// (proc_pid_fdinfo(5)): one beneath has more than one, one beside or above has 0.
func sameNamespace(pidfd int) error {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", pidfd))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(info)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if f := strings.Fields(numbers); len(f) == 1 && f[0] != "0" && f[0] != "-1" {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: it is in another process namespace, or gone", errStranger)
}

// shortName is a name by which a socket in dir can be bound or connected to, however long
// the path is: sockaddr_un has room for 108 bytes. The caller calls done afterwards.
func shortName(dir string) (name string, done func(), err error) {
	at, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", at.Fd(), socketFile), func() { _ = at.Close() }, nil
}

// dial connects to the process of a run.
func (r *Record) dial() (*net.UnixConn, *peer, error) {
	base, err := privateDir()
	if err != nil {
		return nil, nil, err
	}
	dir := filepath.Join(base, r.ID)
	if err := checkOwn(dir); err != nil {
		return nil, nil, err
	}
	name, done, err := shortName(dir)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Net: "unixpacket", Name: name})
	if err != nil {
		return nil, nil, err
	}
	p, err := peerOf(c)
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	return c, p, nil
}

// goesOn reports whether the process of a run is there, and notes its number. The socket
// of one that was killed is removed.
func (r *Record) goesOn() bool {
	c, p, err := r.dial()
	if err == nil {
		r.PID = p.pid
		p.close()
		return c.Close() == nil
	}
	if errors.Is(err, unix.ECONNREFUSED) {
		if base, err := privateDir(); err == nil {
			_ = os.Remove(filepath.Join(base, r.ID, socketFile)) // or later
		}
	}
	return false
}
