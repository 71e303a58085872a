package sandboxfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// descriptors are those that this process holds for as long as a program in a view
// wants: of open files in write mounts, of locks, and of files that were removed. A
// walk needs some for a moment only, and finds them: a part of what the process may
// have is kept for that.
//
// Of the rest one program may hold at most twice as many as are free. So one alone gets
// two thirds, many that are greedy at once leave some, and no number has to be chosen.
// Programs are told apart by process: threads cost nothing, and all programs in a view
// may be one user's. A file that is given to another process stays on the account of the
// one that opened it.
type descriptors struct {
	mu    sync.Mutex
	by    map[uint32]int // of whom
	total atomic.Int64   // written with mu held
}

// budget counts for the whole process, as the limit does.
var budget = descriptors{by: map[uint32]int{}}

const (
	// fewHeld are held without asking whether they are many.
	fewHeld = 512
	// maxReserve is enough for all requests that are answered at a time. Of a low limit
	// a quarter has to be.
	maxReserve = 2048
)

// take counts one more for a thread, 0 for nobody's, and returns who is charged, for
// give. EMFILE is for who holds too many.
func (d *descriptors) take(thread uint32) (who uint32, err error) {
	who, most := thread, int64(-1)
	if total := d.total.Load(); total >= fewHeld {
		if most, err = mayHold(); err != nil {
			return 0, err
		}
		if total >= most/4 {
			who = processOf(thread)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if free := most - d.total.Load(); most >= 0 && int64(d.by[who]) >= 2*free {
		return 0, unix.EMFILE
	}
	d.by[who]++
	d.total.Add(1)
	return who, nil
}

// give counts one less.
func (d *descriptors) give(who uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total.Add(-1)
	if d.by[who]--; d.by[who] == 0 {
		delete(d.by, who)
	}
}

// holding opens a file for who asks, if that one may hold one more.
func holding(h *fuse.InHeader, open func(who uint32) error) error {
	who, err := budget.take(h.Pid)
	if err != nil {
		return err
	}
	if err = open(who); err != nil {
		budget.give(who)
	}
	return err
}

// mayHold is how many may be held by all together.
func mayHold() (int64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	most := int64(min(limit.Cur, 1<<30))
	return most - min(most/4, maxReserve), nil
}

// processOf is the process of a thread that waits for our answer, or the thread itself
// where that cannot be seen.
func processOf(thread uint32) uint32 {
	if thread == 0 {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	if err != nil {
		return thread
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "Tgid:"); ok {
			if id, err := strconv.ParseUint(strings.TrimSpace(value), 10, 32); err == nil {
				return uint32(id)
			}
		}
	}
	return thread
}
