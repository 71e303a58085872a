package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/ops"
)

const (
	opLimit   = time.Minute      // what takes longer hangs, on a busy machine too
	seenLimit = 20 * time.Second // a view's bound for changes by the host, and slack for a busy machine
)

// guarded runs the row on the surface. Every operation's outcome is held
// against what really changed on the disk.
func guarded(t *testing.T, s Surface, mode string, row cases.Row) error {
	at := newSite(t, s.UID(), s.InView())
	at.build(row.Tree)
	var e ops.Executor
	changedByHost := false
	for _, l := range row.Lines {
		switch l.Kind {
		case cases.LineStep:
			at.step(l)
			changedByHost = e != nil
		case cases.LinePolicy:
			policy := make([]string, len(l.Words))
			for i, w := range l.Words {
				policy[i] = at.vars.Expand(w)
			}
			var err error
			e, err = s.Start(t, at, policy, mode)
			if l.Want.Kind == cases.WantRefused {
				return refusedAtStart(err, l)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", l.Text, err)
			}
		case cases.LineOp:
			wait := s.InView() && changedByHost && l.Want.Kind == cases.WantOK
			if err := check(at, e, l, s.InView(), wait); err != nil {
				return fmt.Errorf("%s: %w", l.Text, err)
			}
		}
	}
	return nil
}

// refusedAtStart checks that a policy was refused for one of the reasons
// named. The operations of such a row are for the unguarded run only.
func refusedAtStart(err error, l cases.Line) error {
	if err == nil {
		return fmt.Errorf("%s: it was accepted", l.Text)
	}
	for _, code := range l.Want.Words {
		if refusedFor(err, code) {
			return nil
		}
	}
	return fmt.Errorf("%s: refused for another reason: %w", l.Text, err)
}

// check does one operation and compares. With wait it is tried until it works
// or the view's bound for changes by the host has passed.
func check(at *site, e ops.Executor, l cases.Line, inView, wait bool) error {
	op, before := l.Op(at.vars), at.snapshot()
	want, limit := l.Want, opLimit
	if inView && want.View != nil {
		want = *want.View
	}
	if want.Hangs {
		limit = hangLimit
	}
	res := do(e, op, limit)
	for end := time.Now().Add(seenLimit); wait && !res.OK() && time.Now().Before(end); {
		res = do(e, op, opLimit)
	}
	changes := before.Diff(at.snapshot())
	wantChanges := make([]string, len(want.Changes))
	for i, c := range want.Changes {
		wantChanges[i] = at.vars.Expand(c)
	}
	switch {
	case !inView && strings.Contains(res.Text, at.base) && !names(op, at.base):
		return fmt.Errorf("the message names a path of the host: %s", res.Text)
	case want.Kind == cases.WantLeak:
		if !res.OK() || !cases.Leaks(res.Data) {
			return fmt.Errorf("does not leak any more (%s): make it a refusal", res.Text)
		}
		return nil
	case cases.Leaks(res.Data):
		return fmt.Errorf("SECRET LEAKED: %q", res.Data)
	case !cases.Same(changes, wantChanges):
		return fmt.Errorf("changed %q, want %q (result %q)", changes, wantChanges, res.Text)
	case want.Kind == cases.WantRefused:
		if res.OK() || !refusedBy(res, want, inView) {
			return fmt.Errorf("gave %q, rule %q, errno %q (%s)", res.Data, res.Rule, res.Errno, res.Text)
		}
		return nil
	case !res.OK():
		return fmt.Errorf("did not work: rule %q, errno %q (%s)", res.Rule, res.Errno, res.Text)
	case want.HasData && string(res.Data) != at.vars.Expand(want.Data):
		return fmt.Errorf("gave %q", res.Data)
	}
	return nil
}

// names reports whether an argument of op holds text.
func names(op ops.Op, text string) bool {
	return slices.ContainsFunc(op.Args, func(arg []byte) bool { return strings.Contains(string(arg), text) })
}

// do bounds an operation. The process of one that hangs is killed.
func do(e ops.Executor, op ops.Op, limit time.Duration) ops.Result {
	done := make(chan ops.Result, 1)
	go func() { done <- e.Do(op) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case res := <-done:
		return res
	case <-timer.C:
		if a, ok := e.(actor); ok {
			a.stop()
		}
		return ops.Failed(nil, ops.ErrHang)
	}
}
