package sandboxfs

import (
	"io"
	"iter"
	"slices"
	"sort"

	"golang.org/x/sys/unix"
)

// lastOffset is the end of a lock that has none.
const lastOffset = 1<<63 - 1

// span is a part of a file, from its first to its last byte, and a lock on it.
type span struct {
	start, end int64
	typ        int16  // F_RDLCK, F_WRLCK or F_UNLCK
	thread     uint32 // that took it, 0 where that is not known
}

// everything is given back with this.
var everything = span{end: lastOffset, typ: unix.F_UNLCK}

func (s span) flock() unix.Flock_t {
	lk := unix.Flock_t{Type: s.typ, Whence: io.SeekStart, Start: s.start}
	if s.end != lastOffset {
		lk.Len = s.end - s.start + 1
	}
	return lk
}

func spanOf(lk *unix.Flock_t) span {
	s := span{start: lk.Start, end: lastOffset, typ: lk.Type}
	if lk.Len != 0 {
		s.end = lk.Start + lk.Len - 1
	}
	return s
}

func (s span) overlaps(other span) bool { return s.start <= other.end && other.start <= s.end }

// conflicts reports whether two owners cannot have both.
func (s span) conflicts(other span) bool {
	return s.overlaps(other) && (s.typ == unix.F_WRLCK || other.typ == unix.F_WRLCK)
}

// spans are what one owner holds of a file, in order and without overlap.
type spans []span

// put notes what was set in the place of what was there. It reports whether
// somebody else may get some of it now.
func (s *spans) put(n span) (lowered bool) {
	all := *s
	from := sort.Search(len(all), func(i int) bool { return all[i].end >= n.start })
	var room [3]span
	now := room[:0] // what stands in the place of all[from:to]
	to := from
	for ; to < len(all) && all[to].start <= n.end; to++ {
		lowered = lowered || n.typ == unix.F_UNLCK || n.typ == unix.F_RDLCK && all[to].typ == unix.F_WRLCK
	}
	if from < to && all[from].start < n.start {
		left := all[from]
		left.end = n.start - 1
		now = append(now, left)
	}
	if n.typ != unix.F_UNLCK {
		now = append(now, n)
	}
	if from < to && all[to-1].end > n.end {
		right := all[to-1]
		right.start = n.end + 1
		now = append(now, right)
	}
	all = slices.Replace(all, from, to, now...)
	*s = all.joined(max(from-1, 0), from+len(now)+1)
	return lowered
}

// joined makes one of neighbours that say the same, among those from from to to.
func (s spans) joined(from, to int) spans {
	for i := min(to, len(s)) - 1; i > from; i-- {
		a, b := s[i-1], s[i]
		if a.end+1 == b.start && a.typ == b.typ && a.thread == b.thread {
			s[i-1].end = b.end
			s = slices.Delete(s, i, i+1)
		}
	}
	return s
}

// inTheWay are the locks that others in the view hold and that keep who from getting
// what.
func (f *lockedFile) inTheWay(who *holder, what span) iter.Seq2[*holder, span] {
	return func(yield func(*holder, span) bool) {
		for _, other := range f.holders {
			if other == who || who != nil && who.locker != nil && other.locker == who.locker {
				continue
			}
			held := other.held
			first := sort.Search(len(held), func(i int) bool { return held[i].end >= what.start })
			for _, s := range held[first:] {
				if s.start > what.end {
					break
				}
				if s.conflicts(what) && !yield(other, s) {
					return
				}
			}
		}
	}
}
