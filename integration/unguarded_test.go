package integration

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/ops"
)

// hangLimit is what a FIFO is given to be seen hanging.
const hangLimit = 300 * time.Millisecond

// unguarded runs the row without the guard: what was refused must succeed
// now, or the refusal proves nothing. Every such operation has a tree of its
// own, with the steps and the good operations before it.
func unguarded(t *testing.T, s Surface, row cases.Row) error {
	for i, l := range row.Lines {
		if l.Kind != cases.LineOp || l.Want.Kind != cases.WantRefused || l.Want.Same != "" {
			continue
		}
		at := newSite(t, s.UID(), s.InView())
		at.build(row.Tree)
		e := s.Unguarded(t, at)
		for _, before := range row.Lines[:i] {
			if before.Kind == cases.LineStep {
				at.step(before)
			}
			if before.Kind == cases.LineOp && before.Want.Kind == cases.WantOK {
				do(e, before.Op(at.vars), opLimit)
			}
		}
		if err := succeeds(at, e, l); err != nil {
			return fmt.Errorf("void: %s: unguarded %w", l.Text, err)
		}
	}
	return nil
}

func succeeds(at *site, e ops.Executor, l cases.Line) error {
	op := l.Op(at.vars)
	if l.Want.Hangs {
		if res := do(e, op, hangLimit); res.Text != ops.ErrHang.Error() {
			return fmt.Errorf("it ends: %q", res.Text)
		}
		return release(filepath.Join(at.root, op.Arg(0)))
	}
	op.Args[0] = []byte(l.Want.Naive.Apply(op.Arg(0), at.vars))
	before := at.snapshot()
	res := do(e, op, opLimit)
	if !res.OK() {
		return fmt.Errorf("it fails too: %s", res.Text)
	}
	if writes[op.Verb] && len(before.Diff(at.snapshot())) == 0 {
		return fmt.Errorf("it changes nothing")
	}
	return nil
}

// writes are the verbs that change something when they work.
var writes = map[string]bool{
	"write": true, "append": true, "create": true, "truncate": true, "mkdir": true, "mkdirall": true, "remove": true,
	"removeall": true, "rename": true, "exchange": true, "link": true, "symlink": true, "chmod": true, "chtimes": true, "setxattr": true, "fallocate": true,
}

// release ends whoever waits for the other end of a FIFO.
func release(fifo string) error {
	fd, err := unix.Open(fifo, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
