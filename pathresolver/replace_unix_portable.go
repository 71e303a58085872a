//go:build unix && (!linux || portable)

package pathresolver

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// The wait for the lock of a directory.
const (
	lockPoll    = 2 * time.Millisecond
	maxLockWait = 10 * time.Second
)

// lockParent takes the lock of all commits in a place's directory.
func lockParent(ctx context.Context, root *os.Root, place string) (unlock func(), err error) {
	parent, _ := splitPlace(place)
	dir, err := root.Open(filepath.FromSlash(parent))
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(maxLockWait); ; {
		switch err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case nil:
			return func() { _ = dir.Close() }, nil
		case syscall.EWOULDBLOCK, syscall.EINTR:
		default: // a file system without such locks
			_ = dir.Close()
			return func() {}, nil
		}
		if time.Now().After(until) {
			_ = dir.Close()
			return nil, syscall.EBUSY
		}
		select {
		case <-ctx.Done():
			_ = dir.Close()
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// likeAttributes gives out the owner and mode of like, without set-id bits.
func likeAttributes(like, out *os.File) error {
	info, err := like.Stat()
	if err != nil {
		return err
	}
	own, err := out.Stat()
	if err != nil {
		return err
	}
	is, has := info.Sys().(*syscall.Stat_t), own.Sys().(*syscall.Stat_t)
	if is.Uid != has.Uid || is.Gid != has.Gid {
		if err := out.Chown(int(is.Uid), int(is.Gid)); err != nil {
			return err
		}
	}
	return out.Chmod(info.Mode().Perm())
}
