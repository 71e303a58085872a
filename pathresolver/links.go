package pathresolver

import "fmt"

// maxLinkNotes bounds the memory spent on links made through one resolver.
// Beyond it a file's links count as made elsewhere.
const maxLinkNotes = 1 << 20

// linkNote says how many of a file's links are accounted for.
type linkNote struct{ links uint32 }

// CheckLinks says whether a regular file with nlink links may be changed in
// place. It may when every link was made through this resolver, for then each
// of them lies beneath a write path. Otherwise the HardLinks option decides:
// a refusal, or breakIt, which tells the caller to call BreakLinks and open
// the place again.
func (r *Resolver) CheckLinks(place string, dev, ino uint64, nlink uint32) (breakIt bool, denied *DeniedError) {
	if nlink <= 1 || r.hardLinks == HardLinksAllow {
		return false, nil
	}
	r.linksMu.Lock()
	note := r.links[linkKey{dev, ino}]
	r.linksMu.Unlock()
	if nlink <= note.links {
		return false, nil
	}
	if r.hardLinks == HardLinksBreak {
		return true, nil
	}
	return false, r.denied(OpWrite, place, RuleHardLink,
		fmt.Sprintf("the file has %d hard links, and writing it would change the others too; copy it, or set hardlinks to break or allow", nlink), "")
}

// NoteLink records that a file which had before links got one more through
// this resolver, or through a view of it.
func (r *Resolver) NoteLink(dev, ino uint64, before uint32) {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	key := linkKey{dev, ino}
	note, known := r.links[key]
	if before > 1 && before != note.links {
		return // somebody else's link is among them
	}
	if !known && len(r.links) >= maxLinkNotes {
		return
	}
	if r.links == nil {
		r.links = make(map[linkKey]linkNote)
	}
	r.links[key] = linkNote{links: before + 1}
}
