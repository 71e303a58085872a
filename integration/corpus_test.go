package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/ops"
)

const (
	corpusDir = "../testdata/cases"
	opLimit   = 10 * time.Second       // what takes longer hangs
	hangLimit = 300 * time.Millisecond // what a FIFO is given to be seen hanging
	seenLimit = 3 * time.Second        // a view's bound for changes by the host, and slack
)

// TestCorpus runs every row over every surface in both modes and prints the
// table. A cell that does not pass is a failure, unless not-applicable.txt has
// it; what that has must not pass.
func TestCorpus(t *testing.T) {
	rows := corpus(t)
	na := notApplicable(t)
	results := newTable(rows, na)
	t.Run("surfaces", func(t *testing.T) { // returns when the parallel ones are done
		for _, s := range surfaces {
			for _, mode := range modes {
				t.Run(s.Name()+"/"+mode, func(t *testing.T) {
					t.Parallel()
					for _, row := range rows {
						t.Run(row.ID, func(t *testing.T) {
							results.set(row.ID, s.Name()+"/"+mode, cell(t, s, mode, row, na))
						})
					}
				})
			}
		}
	})
	for _, s := range surfaces {
		t.Run(s.Name()+" lacks verbs", func(t *testing.T) { lacks(t, s, na) })
	}
	t.Run("limits are documented", func(t *testing.T) { limitsAreDocumented(t, rows) })
	results.print(t)
}

// corpus are the rows of testdata/cases, for an ordinary user those without
// mounts and devices.
func corpus(t *testing.T) []cases.Row {
	t.Helper()
	rows, err := cases.Load(corpusDir)
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	if isRoot {
		return rows
	}
	return slices.DeleteFunc(rows, cases.Row.NeedsRoot)
}

// notApplicable is the list of what surfaces lack. It is about all rows, the
// races too, and all surfaces, whoever runs.
func notApplicable(t *testing.T) *cases.NotApplicable {
	t.Helper()
	rows, err := cases.Load(corpusDir)
	require.NoError(t, err)
	for _, r := range races {
		rows = append(rows, r.row())
	}
	na, err := cases.LoadNotApplicable(filepath.Join(corpusDir, "not-applicable.txt"), surfaceNames, rows)
	require.NoError(t, err)
	return na
}

// cell runs one row on one surface and returns its word for the table.
func cell(t *testing.T, s Surface, mode string, row cases.Row, na *cases.NotApplicable) string {
	var failure error
	row, reason := na.Without(s.Name(), row)
	if reason != 0 {
		return fmt.Sprintf("n/a(%d)", reason)
	}
	ran := t.Run("guarded", func(t *testing.T) { failure = guarded(t, s, mode, row) })
	if ran && failure == nil {
		ran = t.Run("unguarded", func(t *testing.T) { failure = unguarded(t, s, row) })
	}
	if !ran {
		return "FAIL"
	}
	reason = na.Reason(s.Name(), row.ID)
	switch {
	case reason == 0 && failure == nil && leaks(row):
		return "limit"
	case reason == 0 && failure == nil:
		return "pass"
	case reason == 0:
		t.Errorf("%s %s (%s): %v", row.ID, row.Title, row.Where, failure)
		return "FAIL"
	case failure == nil:
		t.Errorf("%s passes: take it off not-applicable.txt", row.ID)
		return "STALE"
	}
	return fmt.Sprintf("n/a(%d)", reason)
}

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
	"removeall": true, "rename": true, "exchange": true, "link": true, "symlink": true, "chmod": true, "chtimes": true,
}

// release ends whoever waits for the other end of a FIFO.
func release(fifo string) error {
	fd, err := unix.Open(fifo, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// lacks holds the list of verbs that a surface does not have to the surface.
// A verb that it has but the list takes away would never be tried.
func lacks(t *testing.T, s Surface, na *cases.NotApplicable) {
	at := newSite(t, s.UID(), s.InView())
	e, err := s.Start(t, at, nil, modes[0])
	require.NoError(t, err)
	for _, verb := range na.Verbs(s.Name()) {
		res := do(e, ops.Op{Verb: verb, Args: [][]byte{[]byte("a"), []byte("b")}}, opLimit)
		require.Equal(t, ops.ErrUnsupported.Error(), res.Text, "%s has %q: take it off not-applicable.txt", s.Name(), verb)
	}
}

// leaks reports whether a row stands for a limit.
func leaks(row cases.Row) bool {
	for _, l := range row.Lines {
		if l.Want.Kind == cases.WantLeak {
			return true
		}
	}
	return false
}

// limitsAreDocumented holds docs/threat-model.md to the rows that leak.
func limitsAreDocumented(t *testing.T, rows []cases.Row) {
	text, err := os.ReadFile("../docs/threat-model.md")
	require.NoError(t, err)
	for _, row := range rows {
		if leaks(row) {
			require.Contains(t, string(text), row.ID)
		}
	}
}

// sorted are the keys of m.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
