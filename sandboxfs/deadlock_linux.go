package sandboxfs

import "slices"

// Two processes that wait for each other's POSIX locks would wait for ever: the one
// whose wait closes the cycle gets EDEADLK, as fcntl(2) says. Locks of the host's
// processes take no part, and neither do those of flock(2).
//
// Nor should open file description locks, which another thread may give back while
// one waits. But the kernel does not say whether an owner is an open file or a
// process. It is a process for sure once it was seen with two open files, or closing
// one. Of another owner only the thread that waits itself is taken not to give back
// what it has taken before.

// closesCycle reports whether w, which has to wait, would wait for itself.
func (t *lockTable) closesCycle(w *lockWait) bool {
	stuck := []*lockWait{w} // until w gets its lock
	for i := 0; i < len(stuck); i++ {
		at := stuck[i]
		for hd, s := range at.holder.file.inTheWay(at.holder, at.span) {
			if w.keeps(hd, s) {
				return true
			}
			for _, next := range hd.locker.waits {
				if next.keeps(hd, s) && !slices.Contains(stuck, next) {
					stuck = append(stuck, next)
				}
			}
			// A process has another owner on each mount: there the thread tells.
			if next := t.threads[s.thread]; next != nil && next.keeps(hd, s) && !slices.Contains(stuck, next) {
				stuck = append(stuck, next)
			}
		}
	}
	return false
}

// keeps reports whether who waits has a lock, and cannot give it back meanwhile.
func (w *lockWait) keeps(hd *holder, s span) bool {
	same := s.thread == w.span.thread && s.thread != 0
	if hd.locker.key.c != w.c {
		return same
	}
	return hd.locker == w.holder.locker && (same || hd.locker.process)
}
