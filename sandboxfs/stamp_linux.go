package sandboxfs

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxStamps bounds how many files are remembered.
const maxStamps = 1 << 16

// settled is how old a change must be before the times of a file are taken to
// tell it from the next one: file systems stamp by the tick.
const settled = 20 * time.Millisecond

// stamp is how the content of a file was when it was last opened.
type stamp struct {
	size         uint64
	mtime, ctime int64
}

// stamps decides whether the kernel may keep what it has read of a file when
// it is opened again. By default it reads anew after each open, which is right
// where the host may have written meanwhile.
type stamps struct {
	mu   sync.Mutex
	last map[*node]stamp
}

// unchanged reports whether n is as it was when it was opened before.
func (s *stamps) unchanged(n *node, sx *unix.Statx_t) bool {
	now := stamp{
		size:  sx.Size,
		mtime: sx.Mtime.Sec*1e9 + int64(sx.Mtime.Nsec),
		ctime: sx.Ctime.Sec*1e9 + int64(sx.Ctime.Nsec),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.last[n]
	if known && before == now {
		return true
	}
	if time.Since(time.Unix(0, max(now.mtime, now.ctime))) < settled || !known && len(s.last) >= maxStamps {
		delete(s.last, n)
		return false
	}
	s.last[n] = now
	n.held.Store(true)
	return false
}

func (s *stamps) forget(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, n)
}
