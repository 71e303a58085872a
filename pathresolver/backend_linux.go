//go:build !portable

package pathresolver

import (
	"context"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// The backend on Linux: a handle is a descriptor, and each function one system
// call on it. The walker and the verbs use nothing else, so that
// backend_portable.go, where a handle is an os.Root, is all that other systems
// need. Both are chosen when the program is compiled: a call costs nothing.
//
// Errors are plain errno values.

// handle is something that is held open.
type handle = int

const noHandle handle = -1

// stat describes what a handle holds.
type stat = unix.Stat_t

// identity tells one file from another, and the mount that it lies on.
type identity = fsat.Identity

// The flags of an open that package os does not have.
const (
	oPath      = unix.O_PATH
	oNoFollow  = unix.O_NOFOLLOW
	oDirectory = unix.O_DIRECTORY
	oAccMode   = unix.O_ACCMODE

	// always is part of every open: a FIFO does not block, a terminal does not
	// become ours, nothing leaks into a child.
	always = unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

	// openFlags are those that a caller of OpenFile may set.
	openFlags = unix.O_ACCMODE | unix.O_APPEND | unix.O_CREAT | unix.O_EXCL | unix.O_SYNC |
		unix.O_DSYNC | unix.O_TRUNC | unix.O_DIRECT | unix.O_NOATIME | unix.O_DIRECTORY | unix.O_NOFOLLOW |
		unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_LARGEFILE

	// oMakes are the flags of an open that makes a file.
	oMakes = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

	// asDir has unlink remove an empty directory.
	asDir = unix.AT_REMOVEDIR
)

// openat opens one name in a directory.
func openat(dir handle, name string, flags int, mode uint32) (handle, error) {
	return fsat.Openat(dir, name, flags, mode)
}

// closeHandle closes what was only read, on the way out.
func closeHandle(h handle) { _ = unix.Close(h) }

func closeFile(h handle) error { return unix.Close(h) }

// closePath closes what was opened by oPath.
func closePath(h handle) { fsat.ClosePath(h) }

func fstat(h handle, st *stat) error { return fsat.Fstat(h, st) }

func lstatat(dir handle, name string, st *stat) error { return fsat.Lstatat(dir, name, st) }

func sameFile(a, b *stat) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// unchanged reports whether mode, owner and the rest of the inode are the same.
func unchanged(a, b *stat) bool {
	return a.Mode == b.Mode && a.Uid == b.Uid && a.Gid == b.Gid && a.Ctim == b.Ctim
}

func identify(h handle) (identity, error) { return fsat.Identify(h) }

func sameMount(a, b identity) bool { return fsat.SameMount(a, b) }

// readlinkOf returns the text of a link that was opened by oPath and oNoFollow.
func readlinkOf(h handle) (string, error) { return fsat.Readlink(h) }

func onProcfs(h handle) (bool, error) { return fsat.OnProcfs(h) }

// fileID describes a file; oPath will do.
func fileID(h handle) (resolved.FileID, error) {
	var sx unix.Statx_t
	err := fsat.Retry(func() error {
		return unix.Statx(h, "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_NLINK|unix.STATX_BTIME, &sx)
	})
	if err == unix.ENOSYS {
		var st stat
		err = fstat(h, &st)
		return resolved.FileID{Dev: st.Dev, Ino: st.Ino, Links: uint32(st.Nlink)}, err
	}
	id := resolved.FileID{Dev: unix.Mkdev(sx.Dev_major, sx.Dev_minor), Ino: sx.Ino, Links: sx.Nlink}
	if sx.Mask&unix.STATX_BTIME != 0 {
		id.Born = sx.Btime.Sec*1e9 + int64(sx.Btime.Nsec)
	}
	return id, err
}

func mkdirat(dir handle, name string, mode uint32) error {
	return fsat.Retry(func() error { return unix.Mkdirat(dir, name, mode) })
}

func symlinkat(text string, dir handle, name string) error {
	return fsat.Retry(func() error { return unix.Symlinkat(text, dir, name) })
}

// linkat gives the held file a name that is still free.
func linkat(file, dir handle, name string) error {
	err := fsat.Retry(func() error { return unix.Linkat(file, "", dir, name, unix.AT_EMPTY_PATH) })
	if err == unix.ENOENT { // without CAP_DAC_READ_SEARCH
		err = fsat.Retry(func() error {
			return unix.Linkat(unix.AT_FDCWD, fsat.ProcPath(file), dir, name, unix.AT_SYMLINK_FOLLOW)
		})
	}
	return err
}

func renameat(oldDir handle, old string, newDir handle, new string, how RenameHow) error {
	flags := uint(0)
	switch how {
	case RenameNoReplace:
		flags = unix.RENAME_NOREPLACE
	case RenameExchange:
		flags = unix.RENAME_EXCHANGE
	}
	return fsat.Retry(func() error { return unix.Renameat2(oldDir, old, newDir, new, flags) })
}

func unlink(dir handle, name string, flags int) error {
	return fsat.Retry(func() error { return unix.Unlinkat(dir, name, flags) })
}

func ftruncate(h handle, size int64) error {
	return fsat.Retry(func() error { return unix.Ftruncate(h, size) })
}

func fsync(h handle) error { return fsat.Retry(func() error { return unix.Fsync(h) }) }

// fchmod changes the mode of what is held by oPath. fchmodat2 is in Linux since
// 6.6; before, the descriptor's own name in /proc serves.
func fchmod(h handle, mode uint32) error {
	err := fsat.Retry(func() error { return unix.Fchmodat(h, "", mode, unix.AT_EMPTY_PATH) })
	if err == unix.ENOSYS || err == unix.EOPNOTSUPP || err == unix.EINVAL {
		err = fsat.Retry(func() error { return unix.Fchmodat(unix.AT_FDCWD, fsat.ProcPath(h), mode, 0) })
	}
	return err
}

func fchown(h handle, uid, gid int) error {
	return fsat.Retry(func() error { return unix.Fchownat(h, "", uid, gid, unix.AT_EMPTY_PATH) })
}

// futimes sets the times of what is held by oPath; a zero Time leaves one alone.
func futimes(h handle, atime, mtime time.Time) error {
	times := []unix.Timespec{timespec(atime), timespec(mtime)}
	err := fsat.Retry(func() error { return unix.UtimesNanoAt(h, "", times, unix.AT_EMPTY_PATH) })
	if err == unix.EINVAL || err == unix.ENOENT { // before Linux 5.8
		err = fsat.Retry(func() error { return unix.UtimesNanoAt(unix.AT_FDCWD, fsat.ProcPath(h), times, 0) })
	}
	return err
}

func timespec(t time.Time) unix.Timespec {
	if t.IsZero() {
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	}
	return unix.NsecToTimespec(t.UnixNano())
}

// read, pread, pwrite and seek say what the system said: 0 bytes are the end.
func read(h handle, p []byte) (n int, err error) {
	err = fsat.Retry(func() (e error) { n, e = unix.Read(h, p); return })
	return n, err
}

func pread(h handle, p []byte, off int64) (n int, err error) {
	err = fsat.Retry(func() (e error) { n, e = unix.Pread(h, p, off); return })
	return n, err
}

func pwrite(h handle, p []byte, off int64) (int, error) { return fsat.Pwrite(h, p, off, false) }

func seek(h handle, off int64, whence int) (int64, error) { return unix.Seek(h, off, whence) }

// names reads a directory from its start, at most so many names.
func names(dir handle, most int) ([]string, error) {
	if _, err := unix.Seek(dir, 0, io.SeekStart); err != nil {
		return nil, err
	}
	buf := direntBuffers.Get().(*[64 << 10]byte)
	defer direntBuffers.Put(buf)
	var list []string
	for {
		n, err := fsat.ReadDirent(dir, buf[:])
		if n == 0 || err != nil {
			return list, err
		}
		for off := 0; ; {
			start, end, _, next, ok := fsat.NextDirent(buf[:n], off)
			if !ok {
				break
			}
			off = next
			switch name := string(buf[start:end]); {
			case name == ".", name == "..", name == "":
			case len(list) == most:
				return list, nil
			default:
				list = append(list, name)
			}
		}
	}
}

// direntBuffers are for getdents64, whose records do not outlive one call.
var direntBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// newFile makes an *os.File of a descriptor. A regular file never blocks, so
// O_NONBLOCK goes, and with it the runtime's attempt to poll it. A directory
// is named by its descriptor: the standard library's ReadDir looks names up
// again by that name, and this one leads to the directory that was opened.
func newFile(h handle, unsafePath string, st *stat) *os.File {
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.NewFile(uintptr(h), fsat.ProcPath(h))
	}
	if flags, err := unix.FcntlInt(uintptr(h), unix.F_GETFL, 0); err == nil {
		_, _ = unix.FcntlInt(uintptr(h), unix.F_SETFL, flags&^unix.O_NONBLOCK)
	}
	return os.NewFile(uintptr(h), unsafePath)
}

// fileInfo is what fstat said. Sys returns a *syscall.Stat_t.
type fileInfo struct {
	name string
	st   syscall.Stat_t
}

// stat is the same struct under its other name.
func (i *fileInfo) stat() *stat        { return (*stat)(unsafe.Pointer(&i.st)) }
func (i *fileInfo) Size() int64        { return i.st.Size }
func (i *fileInfo) ModTime() time.Time { return time.Unix(i.st.Mtim.Unix()) }
func (i *fileInfo) Sys() any           { return &i.st }
func (i *fileInfo) Name() string       { return i.name }

// nameless makes an empty file without a name on the file system of dir, which
// not every file system can: EOPNOTSUPP then.
func nameless(dir handle, mode uint32) (handle, error) {
	h, err := fsat.Openat(dir, ".", unix.O_RDWR|unix.O_TMPFILE, mode)
	switch err {
	case unix.EISDIR, unix.ENOENT, unix.EINVAL:
		err = unix.EOPNOTSUPP
	case unix.EPERM:
		var st stat
		if fstat(dir, &st) == nil && st.Nlink == 0 {
			err = unix.ENOENT // ext4's word for a directory that was removed
		}
	}
	return h, err
}

// anonymous is a file without a name for content that is kept for a while. Where
// there is no place for one, or this process may not use it, it is in memory.
func anonymous() (handle, error) {
	h, err := fsat.Openat(unix.AT_FDCWD, os.TempDir(), unix.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil {
		return unix.MemfdCreate("pinfold", unix.MFD_CLOEXEC)
	}
	return h, nil
}

// tryLock takes the lock of a directory if nobody has it; EWOULDBLOCK.
func tryLock(dir handle) error {
	return fsat.Retry(func() error { return unix.Flock(dir, unix.LOCK_EX|unix.LOCK_NB) })
}

func unlock(dir handle) { _ = unix.Flock(dir, unix.LOCK_UN) }

// fsyncUntil is fsync that is not waited for once ctx is done.
func fsyncUntil(ctx context.Context, h handle) error {
	own, err := unix.FcntlInt(uintptr(h), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		err := fsync(own)
		_ = unix.Close(own)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reserve finds out whether there is room for a file to grow.
func reserve(h handle, from, size int64) error {
	err := fsat.Retry(func() error { return unix.Fallocate(h, unix.FALLOC_FL_KEEP_SIZE, from, size) })
	if err == unix.ENOSPC || err == unix.EDQUOT || err == unix.EFBIG {
		return err
	}
	return nil
}

// usedBy reports whether the caller's git would use a .git above the root: it is there
// and belongs to the caller, or to the user who became root by sudo.
func usedBy(dotGit string) bool {
	var st stat
	if unix.Stat(dotGit, &st) != nil {
		return false
	}
	euid := os.Geteuid()
	return int(st.Uid) == euid || euid == 0 && strconv.Itoa(int(st.Uid)) == os.Getenv("SUDO_UID")
}
