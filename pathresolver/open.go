package pathresolver

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// openFD opens what unsafePath leads to and checks what it got. st is filled
// from the descriptor; place is as openOnce has it.
func (r *Resolver) openFD(unsafePath string, flag int, perm fs.FileMode, st *stat) (fd handle, place string, err error) {
	if flag&^openFlags != 0 || flag&oAccMode == oAccMode {
		return noHandle, "", syscall.EINVAL
	}
	write := flag&(oAccMode|os.O_TRUNC|os.O_CREATE) != 0
	op := access.OpRead
	if write {
		op = access.OpWrite
		if flag&os.O_CREATE != 0 {
			op = access.OpCreate
		}
	}
	rel, err := r.relative(op, unsafePath)
	if err != nil {
		return noHandle, "", err
	}
	// The file is emptied only after it has passed every check below.
	flags := flag&^os.O_TRUNC | always
	for range maxAttempts {
		fd, place, err = r.openOnce(op, unsafePath, rel, flags, unixMode(perm))
		switch err {
		case nil:
		case errAgain:
			continue
		case syscall.ENXIO: // a socket, or a FIFO that nobody reads
			return noHandle, "", refuseSpecial(r, op, unsafePath, syscall.S_IFIFO)
		default:
			return noHandle, "", err
		}
		if err = r.admit(fd, op, unsafePath, place, write, st); err == nil && flag&os.O_TRUNC != 0 {
			err = ftruncate(fd, 0)
		}
		if err == errAgain {
			closeHandle(fd)
			continue
		}
		if err != nil {
			closeHandle(fd)
			return noHandle, "", err
		}
		return fd, place, nil
	}
	return noHandle, "", r.refuse(op, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// errAgain asks for another walk: something became a link, or went, between
// the walk that decided and the open that acts.
var errAgain = errors.New("the path changed: once more")

// openOnce tries the fast paths, one system call each, then a walk. It
// returns the place it opened, by the caller's names where links stay within
// a write path, or "" where only the kernel knows it.
func (r *Resolver) openOnce(op access.Op, unsafePath, rel string, flags int, mode uint32) (handle, string, error) {
	if op == access.OpRead && r.plain && flags&oNoFollow == 0 {
		// No rule tells places apart for reading: the kernel may follow.
		fd, err := r.openFollowed(rel, flags)
		if err != syscall.ELOOP {
			return fd, "", err
		}
		return r.openWalked(op, unsafePath, rel, flags, mode)
	}
	return r.openDecided(op, unsafePath, rel, flags, mode)
}

// openDecided decides about the place and opens it: at once where the path is
// the place, after a walk where a link is in the way.
func (r *Resolver) openDecided(op access.Op, unsafePath, rel string, flags int, mode uint32) (handle, string, error) {
	if place, lexical := lexicalPlace(rel); lexical {
		fd, err := r.openLexical(op, place, rel, flags, mode)
		if err != syscall.ELOOP && err != syscall.EXDEV {
			return fd, place, err
		}
	}
	if op == access.OpRead && flags&oNoFollow == 0 {
		if fd, place, ok := r.openNamed(rel, flags); ok {
			return fd, place, nil
		}
	}
	return r.openWalked(op, unsafePath, rel, flags, mode)
}

// openLexical opens the place that the path spells, if that is allowed and no link
// is in the way. ELOOP sends the caller to the walker.
func (r *Resolver) openLexical(op access.Op, place, rel string, flags int, mode uint32) (handle, error) {
	defer r.holdFile(op, place).release()
	if !r.allows(op, place) {
		return noHandle, syscall.ELOOP
	}
	flags, err := r.lockFlags(op, place, flags)
	if err != nil {
		return noHandle, err
	}
	return r.openPlace(withSlash(place, rel), flags, mode)
}

// lockFlags are the flags for opening a file that may be one of git's locks. It was
// decided that none is there, so one that has appeared since belongs to a git outside.
func (r *Resolver) lockFlags(op access.Op, place string, flags int) (int, error) {
	switch {
	case op == access.OpRead || !r.gitLock(place):
		return flags, nil
	case flags&os.O_CREATE == 0:
		return 0, syscall.ENOENT
	}
	return flags | os.O_EXCL, nil
}

// openWalked lets the walker say which place the path leads to, asks the rules
// about it, and binds the answer.
func (r *Resolver) openWalked(op access.Op, unsafePath, rel string, flags int, mode uint32) (handle, string, error) {
	w, err := r.locate(op, unsafePath, rel, flags&(oNoFollow|os.O_EXCL) == 0)
	if err != nil {
		return noHandle, "", err
	}
	if op == access.OpCreate && w.missing == 0 {
		op = access.OpWrite
	}
	defer r.holdFile(op, w.place).release()
	if d := r.denies(op, w.place, 0); d != nil {
		return noHandle, "", d.asGiven(unsafePath)
	}
	if w.missing > 1 || w.missing == 1 && flags&os.O_CREATE == 0 {
		return noHandle, "", syscall.ENOENT
	}
	if w.missing == 1 && w.slash {
		return noHandle, "", syscall.EISDIR
	}
	if w.missing == 0 && w.mode&syscall.S_IFMT == syscall.S_IFLNK {
		if flags&os.O_EXCL != 0 {
			return noHandle, "", syscall.EEXIST
		}
		return noHandle, "", syscall.ELOOP
	}
	if w.missing == 0 {
		if err := refuseSpecial(r, op, unsafePath, w.mode); err != nil {
			return noHandle, "", err
		}
		if flags&oDirectory != 0 && w.mode&syscall.S_IFMT != syscall.S_IFDIR {
			return noHandle, "", syscall.ENOTDIR
		}
	}
	if flags, err = r.lockFlags(op, w.place, flags); err != nil {
		return noHandle, "", err
	}
	fd, err := r.openPlace(w.place, flags, mode)
	switch err {
	case syscall.ELOOP, syscall.EXDEV, syscall.ENOENT, syscall.ENOTDIR:
		return noHandle, "", errAgain
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
func (r *Resolver) admit(fd handle, op access.Op, unsafePath, place string, write bool, st *stat) error {
	if err := fstat(fd, st); err != nil {
		return err
	}
	if err := refuseSpecial(r, op, unsafePath, st.Mode); err != nil {
		return err
	}
	if err := r.refuseTraverseOnly(op, unsafePath, place, fsat.FileMode(st.Mode)); err != nil {
		return err
	}
	if !write || st.Nlink <= 1 || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil
	}
	id, err := fileID(fd)
	if err != nil {
		return err
	}
	breakIt, denied := r.checkLinks(place, id)
	if denied != nil {
		denied.Op = op
		return denied.asGiven(unsafePath)
	}
	if breakIt {
		if err := r.breakLinks(place); err != nil {
			return err
		}
		return errAgain
	}
	return nil
}

// refuseSpecial refuses devices, FIFOs and sockets.
func refuseSpecial(r *Resolver, op access.Op, unsafePath string, mode uint32) error {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG, syscall.S_IFDIR, syscall.S_IFLNK:
		return nil
	}
	return r.refuse(op, unsafePath, RuleSpecialFile, "devices, FIFOs and sockets are not opened")
}

// unixMode is the mode for the kernel, without set-id and sticky bits beyond
// those that fs.FileMode spells out.
func unixMode(m fs.FileMode) uint32 {
	mode := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		mode |= syscall.S_ISUID
	}
	if m&fs.ModeSetgid != 0 {
		mode |= syscall.S_ISGID
	}
	if m&fs.ModeSticky != 0 {
		mode |= syscall.S_ISVTX
	}
	return mode
}
