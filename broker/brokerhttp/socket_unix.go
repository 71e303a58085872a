//go:build unix

package brokerhttp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// longestSocket is what fits into sockaddr_un on every system (unix(7)).
const longestSocket = 100

// shortName is a name by which a socket can be bound or connected to, however
// long its path is: sockaddr_un has room for 108 bytes only. The caller calls
// done afterwards.
func shortName(path string) (name string, done func(), err error) {
	if len(path) <= longestSocket || runtime.GOOS != "linux" {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { _ = dir.Close() }, nil
}

// privateDir makes a directory for this user alone, or sees that it is one.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%q is no directory", dir)
	case !ok || int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%q belongs to somebody else", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%q can be entered by others: chmod 700", dir)
	}
	return nil
}

// removeStale removes a socket that a server left behind. What is no socket
// stays.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%q is there and no socket", path)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lockDir keeps a second server from taking the sockets of a living one.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, fmt.Errorf("another broker serves %q", dir)
		}
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
