package sandboxfs

import (
	"errors"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Two things are held for git directories here. What is written into them is checked
// (resolved.GitContent): an index and a configuration when they take their names, and
// content of one short line at each write. And what a git on the host is preparing is
// not touched (pathresolver.Resolver.GitLock): that is decided on the file that was
// opened, or, where a name goes, while no other name moves.

// isTextContent reports whether content of this kind is checked at each write.
func isTextContent(c resolved.GitContent) bool {
	switch c {
	case resolved.GitLink, resolved.GitCommonDir, resolved.GitTreeLink, resolved.GitNumber:
		return true
	}
	return false
}

// mayWrite reports whether the view itself can do what a refusal demands: check what
// is written (text), keep the file from becoming executable, or make it only where
// there is none.
func (c *connection) mayWrite(d *pathresolver.DeniedError, place string) (may, text bool) {
	if d.Rule != pathresolver.RuleGitContent {
		return false, false
	}
	text = isTextContent(c.rules().GitContent(place))
	return text || c.rules().GitHook(place) || c.rules().GitConfigLock(place), text
}

// isGitText reports whether what is written to a node is checked. The kernel
// does not write to such a file by itself.
func (c *connection) isGitText(n *node) bool {
	place, err := c.tab.place(n)
	return err == nil && isTextContent(c.rules().GitContent(place))
}

// holdText marks an open file as one whose writes are checked, if they are.
func (c *connection) holdText(n *node, fh uint64) {
	if !c.isGitText(n) {
		return
	}
	if h, err := c.opens.get(fh); err == nil {
		h.text = true
	}
}

// writeText writes the whole content of a file at once, if it may have that. git
// writes these files so.
func (c *connection) writeText(in *fuse.WriteIn, h *handle, data []byte) (uint32, error) {
	c.moves.RLock()
	defer c.moves.RUnlock()
	place, err := c.tab.place(h.node)
	if err != nil {
		return 0, unix.EACCES
	}
	if in.Offset != 0 {
		return 0, unix.EACCES
	}
	if d := c.rules().CheckGitText(place, data); d != nil {
		return 0, c.refuse(&in.InHeader, "write", d)
	}
	n, err := fsat.Pwrite(h.fd, data, 0, false)
	if err == nil {
		err = unix.Ftruncate(h.fd, int64(n))
	}
	return uint32(n), err
}

// checkLock refuses to change a file that a git outside is writing at this moment.
func (c *connection) checkLock(h *fuse.InHeader, call, place string, sx *unix.Statx_t) error {
	if place == "" || !c.rules().GitLock(place) {
		return nil
	}
	if d := c.rules().CheckGitLock(place, fileID(sx)); d != nil {
		return c.refuse(h, call, d)
	}
	return nil
}

// lockAt refuses to take away a name at which a git outside prepares something, even
// one that was made just now. A lock that was made through this view stays this
// view's: no other name moves meanwhile, and git makes its locks only where there are
// none.
func (c *connection) lockAt(h *fuse.InHeader, call, place string, dirfd int, name string) error {
	if !c.rules().GitLock(place) {
		return nil
	}
	var sx unix.Statx_t
	if err := fsat.Statx(dirfd, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, statxMask, &sx); err != nil {
		return err
	}
	return c.checkLock(h, call, place, &sx)
}

// hold keeps other requests from moving names. For two kinds of names it keeps them
// from changing any name: HEAD, since what else a directory holds decides whether HEAD
// makes it a repository, and git's locks, since it matters who made them. The caller
// calls release.
func (c *connection) hold(name string) (release func()) {
	if name == "HEAD" || c.rules().IsGitLockName(name) {
		c.moves.Lock()
		return c.moves.Unlock
	}
	c.moves.RLock()
	return c.moves.RUnlock
}

// mayHandle reports whether SETATTR may change a file by its open handle, without the
// rules: not where its writes are checked, nor where a hook would become executable.
func (c *connection) mayHandle(in *fuse.SetAttrIn, h *handle) error {
	if size, resize := in.GetSize(); resize && size != 0 && h.text {
		return unix.EACCES
	}
	if mode, ok := in.GetMode(); ok && mode&0o111 != 0 {
		if place, err := c.tab.place(h.node); err == nil && c.rules().GitHook(place) {
			return unix.EACCES
		}
	}
	return nil
}

// isGitTrial reports whether a link is the one by which "git init" finds out
// whether there are any.
func (c *connection) isGitTrial(dir uint64, name, target string) bool {
	n := c.tab.get(dir)
	if n == nil || target != "testing" {
		return false
	}
	place, err := c.tab.place(n)
	return err == nil && c.rules().GitTriesLink(joinPlace(place, name), target)
}

// hookMode is the mode that a new file gets: a hook in a repository that was
// made in this view is not executable.
func (c *connection) hookMode(place string, mode uint32) uint32 {
	if mode&0o111 != 0 && c.rules().GitHook(place) {
		return mode &^ 0o111
	}
	return mode
}

// arrives asks the rules about git directories whether what is at one name may get the
// other. checked is true where the content has to be checked first.
func (c *connection) arrives(fromFD int, oldName, source string, toFD int, newName, target string, exchange bool) (checked bool, d *pathresolver.DeniedError, err error) {
	if d, err = c.arrival(fromFD, oldName, source, target); err != nil {
		return false, nil, err
	}
	if d != nil {
		checked = d.Rule == pathresolver.RuleGitContent && !exchange && c.rules().GitContent(target) != resolved.GitFree
		if checked {
			d = nil
		}
		return checked, d, nil
	}
	if exchange {
		d, err = c.arrival(toFD, newName, target, source)
	}
	return false, d, err
}

func (c *connection) arrival(dirfd int, name, from, to string) (*pathresolver.DeniedError, error) {
	var sx unix.Statx_t
	if err := fsat.Statx(dirfd, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, statxMask, &sx); err != nil {
		return nil, err
	}
	return c.rules().DecideArrival(from, to, resolved.Arrival{Mode: fsat.FileMode(uint32(sx.Mode)), ID: fileID(&sx)}), nil
}

// renameChecked moves a file to a name under which its content is checked. The
// file that stands there afterwards is another one, so both names are forgotten.
func (c *connection) renameChecked(in *fuse.RenameIn, from nameKey, fromFD int, to nameKey, toFD int, source, target string) error {
	c.slow(&in.InHeader) // an index of a large tree has many megabytes
	replaced := c.beforeRemoval(to.dir, toFD, to.name)
	err := c.rules().MoveChecked(fromFD, from.name, toFD, to.name, target, in.Flags&unix.RENAME_NOREPLACE != 0)
	if err == nil {
		c.moved(source, target, nil, false)
		c.tab.removed(from.dir, from.name)
		c.tab.removed(to.dir, to.name)
	}
	c.retain(replaced, err == nil)
	var d *pathresolver.DeniedError
	if errors.As(err, &d) {
		return c.refuse(&in.InHeader, "rename", d)
	}
	return err
}

// keepSame stands in for a refused move onto a file with the same content: it only
// removes the source. Both names are forgotten, since the kernel takes the removed
// file for the one at the second name.
func (c *connection) keepSame(from nameKey, fromFD int, source string, to nameKey, toFD int, target string) bool {
	if c.rules().Decide(access.OpDelete, source, 0) != nil || c.rules().Decide(access.OpRead, target, 0) != nil ||
		!c.rules().SameGitConfig(fromFD, from.name, source, toFD, to.name, target) {
		return false
	}
	gone := c.beforeRemoval(from.dir, fromFD, from.name)
	err := unix.Unlinkat(fromFD, from.name, 0)
	if err == nil {
		c.tab.removed(from.dir, from.name)
		c.tab.removed(to.dir, to.name)
	}
	c.retain(gone, err == nil)
	return err == nil
}
