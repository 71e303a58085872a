package fileskills

import (
	"runtime"
	"sync"
)

// walkQueue reads the directories of one walk ahead. The last that was offered
// is read first, which is close to the order of the visits; what a visit waits
// for goes before all.
type walkQueue struct {
	walk *walk
	mu   sync.Mutex
	wake *sync.Cond // when any of what follows has changed

	urgent  *walkDir   // guarded by mu
	waiting []*walkDir // guarded by mu; a stack
	ahead   int        // guarded by mu: entries read and not consumed
	running int        // guarded by mu: goroutines
	idle    int        // guarded by mu: those of them that wait
	stopped bool       // guarded by mu
}

func newWalkQueue(w *walk) *walkQueue {
	q := &walkQueue{walk: w}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// stop ends the goroutines, each when its directory has answered. It does not
// wait for them.
func (q *walkQueue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped, q.waiting, q.urgent = true, nil, nil
	q.wake.Broadcast()
}

// need has d read before anything else, unless somebody does already.
func (q *walkQueue) need(d *walkDir) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d.taken {
		return
	}
	q.urgent = d
	q.call()
}

// offer has the next n subdirectories of d read ahead, from item at on. It
// returns where to go on.
func (q *walkQueue) offer(d *walkDir, at, n int) int {
	first := at
	for at < len(d.items) && n > 0 {
		if d.items[at].sub != nil {
			n--
		}
		at++
	}
	if first == at {
		return at
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > maxDirsAhead {
		q.waiting = append(q.waiting[:0], q.waiting[maxDirsAhead/2:]...) // the farthest; need comes back for them
	}
	for i := at - 1; i >= first; i-- { // the first on top
		if sub := d.items[i].sub; sub != nil && !sub.taken {
			q.waiting = append(q.waiting, sub)
			q.call()
		}
	}
	return at
}

// consumed takes d's entries off what is ahead.
func (q *walkQueue) consumed(d *walkDir) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ahead -= len(d.items)
	q.wake.Signal()
}

// call wakes a goroutine, or starts one. The caller holds mu.
func (q *walkQueue) call() {
	if q.idle > 0 {
		q.wake.Signal()
		return
	}
	if q.running < min(maxWalkers, runtime.GOMAXPROCS(0)) {
		q.running++
		q.walk.using.Add(1)
		go q.work()
	}
}

func (q *walkQueue) work() {
	defer q.walk.using.Done()
	for d := q.next(); d != nil; d = q.next() {
		q.walk.read(d)
		q.mu.Lock()
		q.ahead += len(d.items)
		q.mu.Unlock()
	}
}

// next waits for a directory to read; nil when the walk has stopped.
func (q *walkQueue) next() *walkDir {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped {
		if d := q.urgent; d != nil {
			q.urgent = nil
			if !d.taken {
				d.taken = true
				return d
			}
		}
		for len(q.waiting) > 0 && q.ahead < maxAhead {
			last := len(q.waiting) - 1
			d := q.waiting[last]
			q.waiting[last] = nil
			q.waiting = q.waiting[:last]
			if !d.taken {
				d.taken = true
				return d
			}
		}
		q.idle++
		q.wake.Wait()
		q.idle--
	}
	return nil
}
