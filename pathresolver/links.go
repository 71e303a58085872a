package pathresolver

import (
	"context"
	"fmt"
	"os"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// maxLinkNotes bounds the memory spent on links made through one resolver.
// Beyond it a file's links count as made elsewhere.
const maxLinkNotes = 1 << 20

func keyOf(f resolved.FileID) linkKey { return linkKey{f.Dev, f.Ino, f.Born} }

// known reports whether the system said which file it is. A file of which it did not
// say so never counts as made by the caller.
func known(f resolved.FileID) bool { return f.Dev != 0 || f.Ino != 0 }

type linkKey struct {
	dev, ino uint64
	born     int64
}

// checkLinks says whether a regular file may be changed in place. It may when
// every link was made through this resolver, for then each of them lies
// beneath a write path. Otherwise the HardLinks option decides: a refusal, or
// breakIt, which tells the caller to call breakLinks and open the place again.
func (r *Resolver) checkLinks(place string, f resolved.FileID) (breakIt bool, denied *DeniedError) {
	if f.Links <= 1 || r.hardLinks == HardLinksAllow {
		return false, nil
	}
	r.linksMu.Lock()
	known := r.links[keyOf(f)]
	r.linksMu.Unlock()
	if f.Links <= known {
		return false, nil
	}
	if r.hardLinks == HardLinksBreak {
		return true, nil
	}
	return false, r.denied(access.OpWrite, place, RuleHardLink,
		fmt.Sprintf("the file has %d hard links, and writing it would change the others too; copy it, or set hardlinks to break or allow", f.Links))
}

// noteLink records that a file, described as it was before, got one more name
// through this resolver or through a view of it.
func (r *Resolver) noteLink(before resolved.FileID) {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	key := keyOf(before)
	known, noted := r.links[key]
	if before.Links != 1 && before.Links != known {
		delete(r.links, key) // somebody else's link is among them
		return
	}
	if !noted && len(r.links) >= maxLinkNotes {
		return
	}
	if r.links == nil {
		r.links = make(map[linkKey]uint32)
	}
	r.links[key] = before.Links + 1
}

// noteUnlink records that a file, described as it was before, lost a name
// through this resolver or through a view of it: a link that is made outside
// later must not pass for the one that went.
func (r *Resolver) noteUnlink(before resolved.FileID) {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	key := keyOf(before)
	known, noted := r.links[key]
	if !noted {
		return
	}
	if before.Links != known || known <= 2 {
		delete(r.links, key)
		return
	}
	r.links[key] = known - 1
}

// removing describes the file at name in dir if losing that name is to be
// noted: call what it returns once the name is gone.
func (r *Resolver) removing(dir handle, name string) (gone func()) {
	fd, err := openat(dir, name, oPath|oNoFollow, 0)
	if err != nil {
		return func() {}
	}
	defer closeHandle(fd)
	id, err := fileID(fd)
	if err != nil || id.Links < 2 {
		return func() {}
	}
	return func() { r.noteUnlink(id) }
}

// hasNotes reports whether any link was made through this resolver.
func (r *Resolver) hasNotes() bool {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	return len(r.links) > 0
}

// breakLinks replaces the regular file at place by a copy that has one link,
// with the same mode, owner, times and extended attributes, but without
// set-user-id bits and file capabilities. The place is writable: the caller
// has decided. On an error nothing has changed.
func (r *Resolver) breakLinks(place string) error {
	parent, name := splitPlace(place)
	dir, err := r.openPlace(parent, oPath|oDirectory, 0)
	if err != nil {
		return err
	}
	defer closeHandle(dir)
	src, err := r.openIn(dir, name, os.O_RDONLY|oNoFollow|always)
	if err != nil {
		return err
	}
	defer closeHandle(src)
	temp, out, err := createTemp(dir, 0o600)
	if err != nil {
		return err
	}
	defer closeHandle(out)
	if err = copyWhole(out, src); err == nil {
		err = renameat(dir, temp, dir, name, RenameReplace)
	}
	if err != nil {
		_ = unlink(dir, temp, 0)
	}
	return err
}

// copyWhole copies content, attributes and times.
func copyWhole(out, in handle) error {
	if _, err := copyContent(context.Background(), out, 0, in); err != nil {
		return err
	}
	if err := copyAttributes(in, out); err != nil {
		return err
	}
	return copyTimes(in, out)
}
