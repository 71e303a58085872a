package pathresolver

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/access"
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
			if (err == syscall.EPERM || err == syscall.EACCES) && like == w.old {
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
		defer unlock(w.dir)
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
	return w.r.refuse(access.OpWrite, w.unsafePath, RuleUnstable, "the file kept appearing and vanishing")
}

// put gives the content its name, if it may still have that: since it was decided,
// somebody may have moved the directory or made it a repository. The directory was
// where it belongs at that turn.
func (w *Replacement) put(ctx context.Context, now *File, turn uint64) error {
	defer w.r.holdFile(access.OpWrite, w.place).release()
	if turn != w.r.turn() {
		if err := w.inDirectory(); err != nil {
			return err
		}
	}
	if d := w.r.decideGitDir(access.OpWrite, w.place, 0); d != nil {
		return d.asGiven(w.unsafePath)
	}
	var err error
	switch {
	case w.inPlace:
		err = w.overwrite(ctx, now)
	case now != nil:
		err = w.publishOver(now)
	default:
		err = w.publishNew()
	}
	if err == syscall.EEXIST && now == nil && !w.opts.MustBeNew && !w.gone {
		return errAgain
	}
	return err
}

// inDirectory refuses to go on when the held directory is not that of the place.
func (w *Replacement) inDirectory() error {
	if w.r.isAt(w.dir, w.parent) {
		return nil
	}
	return w.r.refuse(access.OpWrite, w.unsafePath, RuleUnstable, "its directory was moved or replaced meanwhile")
}

// isAt reports whether a held directory is that of the place: one that was moved
// away meanwhile is not.
func (r *Resolver) isAt(dir handle, place string) bool {
	var held, there stat
	fd, err := r.openPlace(place, oPath|oDirectory, 0)
	if err == nil {
		err = fstat(fd, &there)
		closePath(fd)
	}
	if err == nil {
		err = fstat(dir, &held)
	}
	return err == nil && sameFile(&held, &there)
}

// look asks still about the file that is there now: w.old if it is that one.
func (w *Replacement) look(still func(*File) error) (now *File, err error) {
	var st stat
	err = lstatat(w.dir, w.name, &st)
	switch {
	case err == syscall.ENOENT:
		if w.opts.MustExist {
			return nil, err
		}
		return nil, still(nil)
	case err != nil:
		return nil, err
	case w.opts.MustBeNew:
		return nil, syscall.EEXIST
	case w.old != nil && sameFile(&st, &w.old.st):
		if !unchanged(&st, &w.old.st) {
			if err = w.attributesOf(w.old); err != nil {
				return nil, err
			}
		}
		return w.old, still(w.old)
	}
	fd, err := w.r.openIn(w.dir, w.name, os.O_RDONLY|oNoFollow|always)
	if err != nil {
		return nil, err
	}
	if err = fstat(fd, &st); err == nil {
		err = refuseSpecial(w.r, access.OpWrite, w.unsafePath, st.Mode)
	}
	if err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		err = syscall.EISDIR
	}
	if err != nil {
		closeHandle(fd)
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
	if now == nil && w.old == nil {
		return w.writeNew(ctx)
	}
	if now == nil || now != w.old {
		return w.r.refuse(access.OpWrite, w.unsafePath, RuleUnstable, "the file was replaced meanwhile")
	}
	was, err := seek(now.fd, 0, io.SeekEnd)
	if err != nil {
		return err
	}
	keep, err := anonymous()
	if err != nil {
		return err
	}
	defer closeHandle(keep)
	if err := copyRange(ctx, keep, now.fd, was); err != nil {
		return err
	}
	if w.size > was {
		// Where there is no room, find out while the old content stands.
		if err := reserve(now.fd, was, w.size-was); err != nil {
			return err
		}
	}
	whole := context.WithoutCancel(ctx) // from here it is done or undone
	if err = copyRange(whole, now.fd, w.out, w.size); err == nil {
		err = ftruncate(now.fd, w.size)
	}
	if err == nil && w.opts.Sync {
		err = fsync(now.fd)
	}
	if err != nil {
		_ = copyRange(whole, now.fd, keep, was)
		_ = ftruncate(now.fd, was)
	}
	return err
}

// writeNew makes a file where there is none and no other may stand beside it.
func (w *Replacement) writeNew(ctx context.Context) error {
	fd, err := openat(w.dir, w.name, os.O_RDWR|os.O_CREATE|os.O_EXCL|oNoFollow, unixMode(w.opts.Perm))
	if err != nil {
		return err
	}
	w.anew = true
	if w.opts.Like != nil {
		err = copyAttributes(w.opts.Like.fd, fd)
	}
	if err == nil {
		err = copyRange(ctx, fd, w.out, w.size)
	}
	if err == nil && w.opts.Sync {
		err = fsync(fd)
	}
	if err != nil {
		var mine, there stat
		if fstat(fd, &mine) == nil && lstatat(w.dir, w.name, &there) == nil && sameFile(&mine, &there) {
			_ = unlink(w.dir, w.name, 0)
		}
	}
	closeHandle(fd)
	return err
}

// lockPoll is how often a lock that somebody has is tried again.
const lockPoll = 2 * time.Millisecond

// maxLockWait bounds the wait for a lock whose holder never lets go.
const maxLockWait = 10 * time.Second

// lockDirectory takes the lock of all commits in a directory. A file system
// that has no such lock is used without.
func lockDirectory(ctx context.Context, dir handle) (locked bool, err error) {
	for until := time.Now().Add(maxLockWait); ; {
		switch err := tryLock(dir); err {
		case nil:
			return true, nil
		case syscall.EWOULDBLOCK:
		default: // EBADF: held by O_PATH
			return false, nil
		}
		if time.Now().After(until) {
			return false, syscall.EBUSY
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
		return fsync(w.out)
	}
	return fsyncUntil(ctx, w.out)
}

// syncDirectory brings the name to the disk. The commit has happened: whether
// this succeeds or is waited for changes nothing of that.
func (w *Replacement) syncDirectory(ctx context.Context) {
	if !w.opts.Sync || w.inPlace && !w.anew {
		return
	}
	if ctx.Done() == nil {
		_ = fsync(w.dir)
		return
	}
	_ = fsyncUntil(ctx, w.dir)
}

// linkedTemp is the name of new content between linkat and rename. All
// commits in a directory are under its lock, so one that is there was left by
// a process that was killed.
const linkedTemp = tempPrefix + "new"

// openTemp makes the file for the new content in the held directory: without
// a name where the file system can do that.
func (w *Replacement) openTemp() error {
	mode := uint32(0o600) // the attributes of the old file follow
	if w.old == nil {
		mode = unixMode(w.opts.Perm)
	}
	var err error
	w.out, err = nameless(w.dir, mode)
	if err == syscall.EOPNOTSUPP {
		if w.r.isWritePath(w.place) {
			return errNothingBeside
		}
		w.temp, w.out, err = createTemp(w.dir, mode)
	}
	return err
}

// errNothingBeside says that no other file is made beside a write path that is a
// file.
var errNothingBeside = errors.New("the write path is the file alone")

// createTemp makes an empty file of a name that nobody can guess.
func createTemp(dir handle, mode uint32) (string, handle, error) {
	name := tempPrefix + rand.Text()
	fd, err := openat(dir, name, os.O_RDWR|os.O_CREATE|os.O_EXCL|oNoFollow, mode)
	return name, fd, err
}

// publishNew gives the content its name. EEXIST: somebody was faster.
func (w *Replacement) publishNew() error {
	if w.temp == "" {
		return linkat(w.out, w.dir, w.name)
	}
	w.letGo(nil)
	err := renameat(w.dir, w.temp, w.dir, w.name, RenameNoReplace)
	if err == syscall.EINVAL || err == syscall.ENOSYS {
		if err = linkat(w.out, w.dir, w.name); err == nil {
			_ = unlink(w.dir, w.temp, 0)
		}
	}
	return err
}

// letGo closes what is open of the file and of the new content: Windows moves
// neither otherwise. What fails from there on is not tried again. Elsewhere it
// does nothing.
func (w *Replacement) letGo(now *File) {
	if runtime.GOOS != "windows" {
		return
	}
	closeHandle(w.out)
	w.out, w.gone = noHandle, true
	for _, f := range []*File{w.old, now} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// publishOver puts the content in the stead of the file that is there.
func (w *Replacement) publishOver(now *File) error {
	w.letGo(now)
	temp := w.temp
	if temp == "" {
		var err error
		if temp, err = w.linkTemp(); err != nil {
			return err
		}
	}
	gone := func() {}
	if w.r.hasNotes() {
		gone = w.r.removing(w.dir, w.name)
	}
	err := renameat(w.dir, temp, w.dir, w.name, RenameReplace)
	if err == nil {
		gone()
	} else if w.temp == "" {
		_ = unlink(w.dir, temp, 0)
	}
	return err
}

// linkTemp gives the content a name beside the file: the one name, where the
// lock says that nobody else uses it.
func (w *Replacement) linkTemp() (string, error) {
	if w.locked {
		err := linkat(w.out, w.dir, linkedTemp)
		if err == syscall.EEXIST {
			w.sweep()
			err = linkat(w.out, w.dir, linkedTemp)
		}
		if err != syscall.EEXIST {
			return linkedTemp, err
		}
		// Not ours: a directory, or a file made without taking the lock.
	}
	name := tempPrefix + rand.Text()
	return name, linkat(w.out, w.dir, name)
}

// sweep removes what a process that was killed has left.
func (w *Replacement) sweep() {
	if w.locked && !w.inPlace && !w.r.isWritePath(w.place) {
		_ = unlink(w.dir, linkedTemp, 0)
	}
}
