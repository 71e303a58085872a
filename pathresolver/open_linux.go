//go:build !portable

package pathresolver

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// maxAgain bounds the retries of one openat2, which says EAGAIN when a rename
// raced with a ".." of the path.
const maxAgain = 128

// always is part of every open: a FIFO does not block, a terminal does not
// become ours, nothing leaks into a child.
const always = unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

const following = fsat.ResolveBeneath | fsat.ResolveNoMagicLinks | fsat.ResolveNoXDev

// openFlags are the flags that a caller of OpenFile may set.
const openFlags = unix.O_ACCMODE | unix.O_APPEND | unix.O_CREAT | unix.O_EXCL | unix.O_SYNC |
	unix.O_DSYNC | unix.O_TRUNC | unix.O_DIRECT | unix.O_NOATIME | unix.O_DIRECTORY | unix.O_NOFOLLOW |
	unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_LARGEFILE

// openFD opens what unsafePath leads to and checks what it got. st is filled
// from the descriptor; place is as openOnce has it.
func (r *Resolver) openFD(unsafePath string, flag int, perm fs.FileMode, st *unix.Stat_t) (fd int, place string, err error) {
	if flag&^openFlags != 0 || flag&unix.O_ACCMODE == unix.O_ACCMODE {
		return -1, "", unix.EINVAL
	}
	write := flag&(unix.O_ACCMODE|unix.O_TRUNC|unix.O_CREAT) != 0
	op := OpRead
	if write {
		op = OpWrite
		if flag&unix.O_CREAT != 0 {
			op = OpCreate
		}
	}
	rel, err := r.relative(op, unsafePath)
	if err != nil {
		return -1, "", err
	}
	// The file is emptied only after it has passed every check below.
	flags := flag&^unix.O_TRUNC | always
	for range maxAttempts {
		fd, place, err = r.openOnce(op, unsafePath, rel, flags, unixMode(perm))
		switch err {
		case nil:
		case errAgain:
			continue
		case unix.ENXIO: // a socket, or a FIFO that nobody reads
			return -1, "", refuseSpecial(r, op, unsafePath, unix.S_IFIFO)
		default:
			return -1, "", err
		}
		if err = r.admit(fd, op, unsafePath, place, write, st); err == nil && flag&unix.O_TRUNC != 0 {
			err = fsat.Retry(func() error { return unix.Ftruncate(fd, 0) })
		}
		if err == errAgain {
			_ = unix.Close(fd)
			continue
		}
		if err != nil {
			_ = unix.Close(fd)
			return -1, "", err
		}
		return fd, place, nil
	}
	return -1, "", r.refuse(op, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// errAgain asks for another walk: something became a link, or went, between
// the walk that decided and the open that acts.
const errAgain = unix.ERESTART

// openOnce tries the fast paths, one system call each, then a walk. It
// returns the place it opened, by the caller's names where links stay within
// a write path, or "" where only the kernel knows it.
func (r *Resolver) openOnce(op Op, unsafePath, rel string, flags int, mode uint32) (int, string, error) {
	if op == OpRead && r.openat2 && r.plain && flags&unix.O_NOFOLLOW == 0 {
		// No rule distinguishes places for reading: the kernel may follow.
		for range maxAgain {
			fd, err := fsat.Openat2(r.rootFD, rel, flags, 0, following)
			switch err {
			case nil:
				return fd, "", nil
			case unix.EAGAIN:
				continue
			case unix.EXDEV, unix.ELOOP:
			default:
				return -1, "", err
			}
			break
		}
		return r.openWalked(op, unsafePath, rel, flags, mode)
	}
	return r.openDecided(op, unsafePath, rel, flags, mode)
}

// openDecided decides about the place and opens it: at once where the path is
// the place, after a walk where a link is in the way.
func (r *Resolver) openDecided(op Op, unsafePath, rel string, flags int, mode uint32) (int, string, error) {
	if place, lexical := lexicalPlace(rel); lexical {
		fd, err := r.openLexical(op, place, rel, flags, mode)
		if err != unix.ELOOP && err != unix.EXDEV {
			return fd, place, err
		}
	}
	return r.openWalked(op, unsafePath, rel, flags, mode)
}

// openLexical opens the place that the path spells, if that is allowed and no link
// is in the way. ELOOP sends the caller to the walker.
func (r *Resolver) openLexical(op Op, place, rel string, flags int, mode uint32) (int, error) {
	defer r.holdFile(op, place).release()
	if !r.allows(op, place) {
		return -1, unix.ELOOP
	}
	flags, err := r.lockFlags(op, place, flags)
	if err != nil {
		return -1, err
	}
	return r.OpenPlace(withSlash(place, rel), flags, mode)
}

// lockFlags are the flags by which a file is opened that may be a lock of git's. It
// was decided that none stands there: one that came since is a git's elsewhere.
func (r *Resolver) lockFlags(op Op, place string, flags int) (int, error) {
	switch {
	case op == OpRead || !r.GitLock(place):
		return flags, nil
	case flags&unix.O_CREAT == 0:
		return 0, unix.ENOENT
	}
	return flags | unix.O_EXCL, nil
}

// openWalked lets the walker say which place the path leads to, asks the rules
// about it, and binds the answer.
func (r *Resolver) openWalked(op Op, unsafePath, rel string, flags int, mode uint32) (int, string, error) {
	w, err := r.locate(op, unsafePath, rel, flags&(unix.O_NOFOLLOW|unix.O_EXCL) == 0)
	if err != nil {
		return -1, "", err
	}
	if op == OpCreate && w.missing == 0 {
		op = OpWrite
	}
	defer r.holdFile(op, w.place).release()
	if d := r.Decide(op, w.place, 0); d != nil {
		return -1, "", d.asGiven(unsafePath)
	}
	if w.missing > 1 || w.missing == 1 && flags&unix.O_CREAT == 0 {
		return -1, "", unix.ENOENT
	}
	if w.missing == 1 && w.slash {
		return -1, "", unix.EISDIR
	}
	if w.missing == 0 && w.mode&unix.S_IFMT == unix.S_IFLNK {
		if flags&unix.O_EXCL != 0 {
			return -1, "", unix.EEXIST
		}
		return -1, "", unix.ELOOP
	}
	if w.missing == 0 {
		if err := refuseSpecial(r, op, unsafePath, w.mode); err != nil {
			return -1, "", err
		}
		if flags&unix.O_DIRECTORY != 0 && w.mode&unix.S_IFMT != unix.S_IFDIR {
			return -1, "", unix.ENOTDIR
		}
	}
	if flags, err = r.lockFlags(op, w.place, flags); err != nil {
		return -1, "", err
	}
	fd, err := r.OpenPlace(w.place, flags, mode)
	switch err {
	case unix.ELOOP, unix.EXDEV, unix.ENOENT, unix.ENOTDIR:
		return -1, "", errAgain
	}
	return fd, w.place, err
}

// withSlash keeps the caller's demand for a directory: a trailing slash, or a
// trailing "." component.
func withSlash(place, rel string) string {
	last := rel[len(rel)-1]
	if place == "." || len(place) == len(rel) || last != '/' && (last != '.' || rel[len(rel)-2] != '/') {
		return place
	}
	return place + "/"
}

// admit looks at what was opened: regular files and directories only, and no
// change in place to a file that may have another name elsewhere.
func (r *Resolver) admit(fd int, op Op, unsafePath, place string, write bool, st *unix.Stat_t) error {
	if err := fsat.Fstat(fd, st); err != nil {
		return err
	}
	if err := refuseSpecial(r, op, unsafePath, st.Mode); err != nil {
		return err
	}
	if err := r.refuseTraverseOnly(op, unsafePath, place, fsat.FileMode(st.Mode)); err != nil {
		return err
	}
	if !write || st.Nlink <= 1 || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil
	}
	id, err := fileID(fd)
	if err != nil {
		return err
	}
	breakIt, denied := r.CheckLinks(place, id)
	if denied != nil {
		denied.Op = op
		return denied.asGiven(unsafePath)
	}
	if breakIt {
		if err := r.BreakLinks(place); err != nil {
			return err
		}
		return errAgain
	}
	return nil
}

// refuseSpecial refuses devices, FIFOs and sockets.
func refuseSpecial(r *Resolver, op Op, unsafePath string, mode uint32) error {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFDIR, unix.S_IFLNK:
		return nil
	}
	return r.refuse(op, unsafePath, RuleSpecialFile, "devices, FIFOs and sockets are not opened")
}

// unixMode is the mode for the kernel, without set-id and sticky bits beyond
// those that fs.FileMode spells out.
func unixMode(m fs.FileMode) uint32 {
	mode := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		mode |= unix.S_ISUID
	}
	if m&fs.ModeSetgid != 0 {
		mode |= unix.S_ISGID
	}
	if m&fs.ModeSticky != 0 {
		mode |= unix.S_ISVTX
	}
	return mode
}

// newFile makes an *os.File of a descriptor. A regular file never blocks, so
// O_NONBLOCK goes, and with it the runtime's attempt to poll it. A directory
// is named by its descriptor: the standard library's ReadDir looks names up
// again by that name, and this one leads to the directory that was opened.
func newFile(fd int, unsafePath string, st *unix.Stat_t) *os.File {
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.NewFile(uintptr(fd), fsat.ProcPath(fd))
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&^unix.O_NONBLOCK)
	}
	return os.NewFile(uintptr(fd), unsafePath)
}
