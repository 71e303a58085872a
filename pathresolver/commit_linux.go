//go:build !portable

package pathresolver

import (
	"context"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// commit brings the content to the disk, takes the lock, looks at what is
// there, and puts the content in its stead.
func (w *Replacement) commit(ctx context.Context, still func(now *File) error) error {
	if !w.inPlace {
		like := w.old
		if like == nil {
			like = w.opts.Like
		}
		if like != nil {
			err := copyAttributes(like.fd, w.out)
			if (err == unix.EPERM || err == unix.EACCES) && like == w.old {
				w.inPlace = true // a file of somebody else's, which stays that
			} else if err != nil {
				return err
			}
		}
	}
	if !w.inPlace {
		if err := w.sync(ctx); err != nil {
			return err
		}
	}
	var err error
	if w.locked, err = lockDirectory(ctx, w.dir); err != nil {
		return err
	}
	if w.locked {
		defer func() { _ = unix.Flock(w.dir, unix.LOCK_UN) }()
	}
	if err := w.publish(ctx, still); err != nil {
		return err
	}
	w.committed = true
	w.syncDirectory(ctx)
	return nil
}

// publish puts the content where it goes.
func (w *Replacement) publish(ctx context.Context, still func(now *File) error) error {
	turn := w.r.turn()
	if err := w.inDirectory(); err != nil {
		return err
	}
	// A name can appear by another's hand between the look and the link.
	for range maxAttempts {
		now, err := w.look(still)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			w.sweep()
		} else {
			err = w.put(ctx, now, turn)
		}
		if now != nil && now != w.old {
			_ = now.Close()
		}
		if err != errAgain {
			return err
		}
	}
	return w.r.refuse(OpWrite, w.unsafePath, RuleUnstable, "the file kept appearing and vanishing")
}

// put gives the content its name, if it may still have that: since it was decided,
// somebody may have moved the directory or made it a repository. The directory was
// where it belongs at that turn.
func (w *Replacement) put(ctx context.Context, now *File, turn uint64) error {
	defer w.r.holdFile(OpWrite, w.place).release()
	if turn != w.r.turn() {
		if err := w.inDirectory(); err != nil {
			return err
		}
	}
	if d := w.r.decideGitDir(OpWrite, w.place, 0); d != nil {
		return d.asGiven(w.unsafePath)
	}
	switch {
	case w.inPlace:
		return w.overwrite(ctx, now)
	case now != nil:
		return w.publishOver()
	}
	err := w.publishNew()
	if err == unix.EEXIST && !w.opts.MustBeNew {
		return errAgain
	}
	return err
}

// inDirectory refuses to go on when the held directory is not that of the place.
func (w *Replacement) inDirectory() error {
	if w.r.isAt(w.dir, w.parent) {
		return nil
	}
	return w.r.refuse(OpWrite, w.unsafePath, RuleUnstable, "its directory was moved or replaced meanwhile")
}

// isAt reports whether a held directory is that of the place: one that was moved
// away meanwhile is not (W27, W28).
func (r *Resolver) isAt(dir int, place string) bool {
	var held, there unix.Stat_t
	fd, err := r.OpenPlace(place, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err == nil {
		err = fsat.Fstat(fd, &there)
		fsat.ClosePath(fd)
	}
	if err == nil {
		err = fsat.Fstat(dir, &held)
	}
	return err == nil && held.Dev == there.Dev && held.Ino == there.Ino
}

// look asks still about the file that is there now: w.old if it is that one.
func (w *Replacement) look(still func(*File) error) (now *File, err error) {
	var st unix.Stat_t
	err = fsat.Lstatat(w.dir, w.name, &st)
	switch {
	case err == unix.ENOENT:
		if w.opts.MustExist {
			return nil, err
		}
		return nil, still(nil)
	case err != nil:
		return nil, err
	case w.opts.MustBeNew:
		return nil, unix.EEXIST
	case w.old != nil && st.Dev == w.old.st.Dev && st.Ino == w.old.st.Ino:
		if st.Mode != w.old.st.Mode || st.Uid != w.old.st.Uid || st.Gid != w.old.st.Gid || st.Ctim != w.old.st.Ctim {
			if err = w.attributesOf(w.old); err != nil {
				return nil, err
			}
		}
		return w.old, still(w.old)
	}
	fd, err := w.r.openIn(w.dir, w.name, unix.O_RDONLY|unix.O_NOFOLLOW|always)
	if err != nil {
		return nil, err
	}
	if err = fsat.Fstat(fd, &st); err == nil {
		err = refuseSpecial(w.r, OpWrite, w.unsafePath, st.Mode)
	}
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = unix.EISDIR
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	now = &File{fd: fd, place: w.place, st: st}
	if err = w.attributesOf(now); err == nil {
		err = still(now)
	}
	if err != nil {
		_ = now.Close()
		return nil, err
	}
	return now, nil
}

// attributesOf carries the attributes over once more.
func (w *Replacement) attributesOf(now *File) error {
	if w.inPlace {
		return nil
	}
	return copyAttributes(now.fd, w.out)
}

// overwrite writes the new content into the file that is there, and puts the
// old back when that fails. A file that is missing is made.
func (w *Replacement) overwrite(ctx context.Context, now *File) (err error) {
	if now == nil || now != w.old {
		return w.r.refuse(OpWrite, w.unsafePath, RuleUnstable, "the file was replaced meanwhile")
	}
	was, err := unix.Seek(now.fd, 0, io.SeekEnd)
	if err != nil {
		return err
	}
	keep, err := anonymous()
	if err != nil {
		return err
	}
	defer unix.Close(keep)
	if err := copyRange(ctx, keep, now.fd, was); err != nil {
		return err
	}
	if w.size > was {
		// Where there is no room, find out while the old content stands.
		err := fsat.Retry(func() error { return unix.Fallocate(now.fd, unix.FALLOC_FL_KEEP_SIZE, was, w.size-was) })
		if err == unix.ENOSPC || err == unix.EDQUOT || err == unix.EFBIG {
			return err
		}
	}
	whole := context.WithoutCancel(ctx) // from here it is done or undone
	if err = copyRange(whole, now.fd, w.out, w.size); err == nil {
		err = fsat.Retry(func() error { return unix.Ftruncate(now.fd, w.size) })
	}
	if err == nil && w.opts.Sync {
		err = fsat.Retry(func() error { return unix.Fsync(now.fd) })
	}
	if err != nil {
		_ = copyRange(whole, now.fd, keep, was)
		_ = unix.Ftruncate(now.fd, was)
	}
	return err
}

// lockPoll is how often a lock that somebody has is tried again.
const lockPoll = 2 * time.Millisecond

// maxLockWait bounds the wait for a lock whose holder never lets go.
const maxLockWait = 10 * time.Second

// lockDirectory takes the lock of all commits in a directory. A file system
// that has no such lock is used without.
func lockDirectory(ctx context.Context, dir int) (locked bool, err error) {
	for until := time.Now().Add(maxLockWait); ; {
		switch err := fsat.Retry(func() error { return unix.Flock(dir, unix.LOCK_EX|unix.LOCK_NB) }); err {
		case nil:
			return true, nil
		case unix.EWOULDBLOCK:
		default: // EBADF: held by O_PATH
			return false, nil
		}
		if time.Now().After(until) {
			return false, unix.EBUSY
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// sync brings the content to the disk. A disk can take seconds: when ctx ends
// first, the flush is left to end by itself.
func (w *Replacement) sync(ctx context.Context) error {
	if !w.opts.Sync {
		return ctx.Err()
	}
	if ctx.Done() == nil {
		return fsat.Retry(func() error { return unix.Fsync(w.out) })
	}
	return unlessDone(ctx, w.out)
}

// syncDirectory brings the name to the disk. The commit has happened: whether
// this succeeds or is waited for changes nothing of that.
func (w *Replacement) syncDirectory(ctx context.Context) {
	if !w.opts.Sync || w.inPlace {
		return
	}
	if ctx.Done() == nil {
		_ = fsat.Retry(func() error { return unix.Fsync(w.dir) })
		return
	}
	_ = unlessDone(ctx, w.dir)
}

// unlessDone is fsync that is not waited for once ctx is done.
func unlessDone(ctx context.Context, fd int) error {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		err := fsat.Retry(func() error { return unix.Fsync(own) })
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
