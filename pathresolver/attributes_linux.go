//go:build !portable

package pathresolver

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// copyAttributes gives to the owner, mode and extended attributes of from. A
// change of owner that the system refuses is an error: the file would come to
// belong to somebody else. What would let the new content run with more rights
// than the writer's is left behind: set-user-id and set-group-id bits, and
// file capabilities.
func copyAttributes(from, to int) error {
	var st, own unix.Stat_t
	if err := errors.Join(fsat.Fstat(from, &st), fsat.Fstat(to, &own)); err != nil {
		return err
	}
	if st.Uid != own.Uid || st.Gid != own.Gid {
		if err := unix.Fchown(to, int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	if err := copyXattrs(from, to); err != nil {
		return err
	}
	mode := st.Mode & 0o1777
	if st.Mode&unix.S_ISGID != 0 && st.Mode&0o010 == 0 {
		mode |= unix.S_ISGID // mandatory locking, not a group to run as
	}
	return unix.Fchmod(to, mode)
}

func copyXattrs(from, to int) error {
	size, err := unix.Flistxattr(from, nil)
	if err == unix.EOPNOTSUPP || err == nil && size == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(from, list); err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:size]), "\x00"), "\x00") {
		if name == "" || name == "security.capability" {
			continue
		}
		value := make([]byte, 1<<16) // XATTR_SIZE_MAX
		n, err := unix.Fgetxattr(from, name, value)
		if err != nil {
			continue // not ours to read, so not ours to carry
		}
		if err := unix.Fsetxattr(to, name, value[:n], 0); err != nil && !strings.HasPrefix(name, "security.") {
			return err
		}
	}
	return nil
}
