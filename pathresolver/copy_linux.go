//go:build !portable

package pathresolver

import (
	"context"
	"errors"
	"io"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// copyChunk is how much is copied between two looks at the context.
const copyChunk = 1 << 20

// copyContent copies the rest of in to out at the offset to, which is out's
// end. Blocks are shared where both lie on a file system that can; holes stay
// holes.
func copyContent(ctx context.Context, out int, to int64, in int) (int64, error) {
	start, err := unix.Seek(in, 0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	end, err := unix.Seek(in, 0, io.SeekEnd)
	if err != nil || end <= start {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err // a clone does not ask in between
	}
	if start == 0 && to == 0 && unix.IoctlFileClone(out, in) == nil {
		return end, nil
	}
	for at := start; at < end; {
		data, err := unix.Seek(in, at, unix.SEEK_DATA)
		if err == unix.ENXIO {
			break // only a hole is left
		}
		if err != nil {
			data = at // no such look: all is data
		}
		hole, err := unix.Seek(in, data, unix.SEEK_HOLE)
		if err != nil {
			hole = end
		}
		hole = min(hole, end)
		if err := copyExtent(ctx, out, in, to+data-start, data, hole-data); err != nil {
			return 0, err
		}
		at = hole
	}
	return end - start, fsat.Retry(func() error { return unix.Ftruncate(out, to+end-start) })
}

// copyRange copies the first size bytes from in to out, offset by offset.
func copyRange(ctx context.Context, out, in int, size int64) error {
	return copyExtent(ctx, out, in, 0, 0, size)
}

// copyExtent copies size bytes. A source that ends early is an error: it
// changed meanwhile.
func copyExtent(ctx context.Context, out, in int, to, from, size int64) error {
	var buf []byte
	for size > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		step := int(min(size, copyChunk))
		n := 0
		err := error(unix.EINVAL)
		if buf == nil {
			offIn, offOut := from, to
			err = fsat.Retry(func() (e error) {
				n, e = unix.CopyFileRange(in, &offIn, out, &offOut, step, 0)
				return e
			})
		}
		switch err {
		case nil:
		case unix.EXDEV, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM, unix.EBADF, unix.ETXTBSY:
			if buf == nil {
				buf = make([]byte, copyChunk)
			}
			if n, err = fsat.Pread(in, buf[:step], from); err == nil {
				err = pwriteAll(out, buf[:n], to)
			}
			if err != nil {
				return err
			}
		default:
			return err
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		to, from, size = to+int64(n), from+int64(n), size-int64(n)
	}
	return nil
}

func pwriteAll(fd int, p []byte, at int64) error {
	for len(p) > 0 {
		n, err := fsat.Pwrite(fd, p, at, false)
		if err != nil {
			return err
		}
		p, at = p[n:], at+int64(n)
	}
	return nil
}

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

// copyTimes gives out the access and modification time of in.
func copyTimes(in, out handle) error {
	var st stat
	if err := fstat(in, &st); err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, fsat.ProcPath(out), []unix.Timespec{st.Atim, st.Mtim}, 0)
}
