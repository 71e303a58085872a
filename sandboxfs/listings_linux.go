package sandboxfs

import (
	"sync"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// listings are the open directories that have to be asked for. A listing takes
// several requests: what was allowed to the first of them lasts until the
// directory is closed.
type listings struct {
	mu    sync.Mutex
	last  uint64
	given map[uint64]pathresolver.Grant // by handle
}

// askedListing reports whether listing a directory has to be asked for. The
// kernel must not remember it for others then.
func (p *part) askedListing(n *node) bool {
	if p.v.asks == nil || !p.r.AsksRead() {
		return false
	}
	place, err := p.tab.place(n)
	return err == nil && p.r.Verdict(place).AskRead
}

// open returns a handle, which is not 0.
func (l *listings) open() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.given == nil {
		l.given = map[uint64]pathresolver.Grant{}
	}
	l.last++
	l.given[l.last] = nil
	return l.last
}

// leave is what was granted to a handle; 0 is none.
func (l *listings) leave(fh uint64) pathresolver.Grant {
	if fh == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.given[fh]
}

func (l *listings) grant(fh uint64, leave pathresolver.Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.given[fh]; open {
		l.given[fh] = leave
	}
}

func (l *listings) close(fh uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.given, fh)
}
