//go:build linux

package sandboxfs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// fakeAsker answers as a broker does: one row for the same operation while it is
// pending, grants for one time that Ask uses up, and grants that last.
type fakeAsker struct {
	mu      sync.Mutex
	rows    map[string]*row
	changed chan struct{} // closed, and made anew, with each change
	lasting map[access.Access]bool
	hints   bool // Leave knows what lasts
	asks    []sandboxfs.AskRequest
}

// row is a pending request, or one that was answered and not yet used.
type row struct {
	approved bool
	denial   error
}

var errPending = errors.New("has to be asked for")

func newFakeAsker() *fakeAsker {
	return &fakeAsker{rows: map[string]*row{}, changed: make(chan struct{}), lasting: map[access.Access]bool{}}
}

// named is an operation as the tests write it: "open write src/x".
func named(q sandboxfs.AskRequest) string {
	text := q.Syscall
	for _, a := range q.Accesses {
		op, _ := a.Action.Op()
		text += fmt.Sprintf(" %s %s", op, a.Resource)
	}
	return text
}

func (d *fakeAsker) changedLocked() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// Ask is sandboxfs.Asker's.
func (d *fakeAsker) Ask(ctx context.Context, q sandboxfs.AskRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks = append(d.asks, q)
	for {
		if !slices.ContainsFunc(q.Accesses, func(a access.Access) bool { return !d.lasting[a] }) {
			return nil
		}
		r := d.rows[named(q)]
		switch {
		case r == nil:
			d.rows[named(q)] = &row{}
			d.changedLocked()
		case r.approved:
			delete(d.rows, named(q))
			return nil
		case r.denial != nil:
			delete(d.rows, named(q))
			return r.denial
		}
		if !q.Wait {
			return errPending
		}
		changed := d.changed
		d.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		d.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// Record is sandboxfs.Asker's.
func (d *fakeAsker) Record(_ context.Context, q sandboxfs.AskRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rows[named(q)] == nil {
		d.rows[named(q)] = &row{}
		d.changedLocked()
	}
	return nil
}

// Granted is sandboxfs.Asker's.
func (d *fakeAsker) Granted(a access.Access) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hints && d.lasting[a]
}

// pending returns once count requests whose names begin so are pending, and
// their names.
func (d *fakeAsker) pending(t *testing.T, prefix string, count int) (names []string) {
	t.Helper()
	late := time.After(2 * bound)
	for {
		d.mu.Lock()
		names = names[:0]
		for name, r := range d.rows {
			if strings.HasPrefix(name, prefix) && !r.approved && r.denial == nil {
				names = append(names, name)
			}
		}
		changed := d.changed
		d.mu.Unlock()
		if len(names) == count {
			return names
		}
		select {
		case <-changed:
		case <-late:
			require.FailNow(t, "not pending", "%d times %q, but %q", count, prefix, names)
		}
	}
}

// answer answers what is pending; nil approves it for one time.
func (d *fakeAsker) answer(t *testing.T, name string, denial error) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	require.Contains(t, d.rows, name)
	d.rows[name].approved, d.rows[name].denial = denial == nil, denial
	d.changedLocked()
}

// grant gives a grant that lasts until it is revoked.
func (d *fakeAsker) grant(accesses ...access.Access) { d.change(true, accesses) }

func (d *fakeAsker) revoke(accesses ...access.Access) { d.change(false, accesses) }

func (d *fakeAsker) change(lasts bool, accesses []access.Access) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range accesses {
		d.lasting[a] = lasts
	}
	d.changedLocked()
}

// asked is how often Ask was asked.
func (d *fakeAsker) asked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asks)
}

// left is how many requests are not answered, or answered and not used up.
func (d *fakeAsker) left() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.rows)
}

// remember has Leave know of what lasts.
func (d *fakeAsker) remember() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hints = true
}
