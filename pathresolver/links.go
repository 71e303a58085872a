package pathresolver

import "fmt"

// maxLinkNotes bounds the memory spent on links made through one resolver.
// Beyond it a file's links count as made elsewhere.
const maxLinkNotes = 1 << 20

// FileID tells one file from all others, also from a later one that is given
// the same inode number, and says how many names it has.
type FileID struct {
	Dev, Ino uint64
	Born     int64  // time of birth in nanoseconds, 0 where the file system does not know it
	Links    uint32 // st_nlink
}

func (f FileID) key() linkKey { return linkKey{f.Dev, f.Ino, f.Born} }

type linkKey struct {
	dev, ino uint64
	born     int64
}

// CheckLinks says whether a regular file may be changed in place. It may when
// every link was made through this resolver, for then each of them lies
// beneath a write path. Otherwise the HardLinks option decides: a refusal, or
// breakIt, which tells the caller to call BreakLinks and open the place again.
func (r *Resolver) CheckLinks(place string, f FileID) (breakIt bool, denied *DeniedError) {
	if f.Links <= 1 || r.hardLinks == HardLinksAllow {
		return false, nil
	}
	r.linksMu.Lock()
	known := r.links[f.key()]
	r.linksMu.Unlock()
	if f.Links <= known {
		return false, nil
	}
	if r.hardLinks == HardLinksBreak {
		return true, nil
	}
	return false, r.denied(OpWrite, place, RuleHardLink,
		fmt.Sprintf("the file has %d hard links, and writing it would change the others too; copy it, or set hardlinks to break or allow", f.Links))
}

// NoteLink records that a file, described as it was before, got one more name
// through this resolver or through a view of it.
func (r *Resolver) NoteLink(before FileID) {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	key := before.key()
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

// NoteUnlink records that a file, described as it was before, lost a name
// through this resolver or through a view of it: a link that is made outside
// later must not pass for the one that went.
func (r *Resolver) NoteUnlink(before FileID) {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	key := before.key()
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
