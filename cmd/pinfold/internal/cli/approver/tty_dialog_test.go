package approver

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/keyburst"
)

// dialog is one that is typed at, with a clock of its own.
type dialog struct {
	*ttyDialog
	now time.Time
}

func newDialog(out io.Writer) *dialog {
	now := time.Now()
	return &dialog{newTTYDialog(out, broker.Request{ID: "r1", AgentID: "run", Action: "fs.write", Resource: "src/a"}, now), now}
}

// slowly types each with a pause before it.
func (d *dialog) slowly(typed ...string) (v decision, done bool) {
	for _, s := range typed {
		d.now = d.now.Add(keyburst.Pause)
		if v, done = d.take(d.now, []byte(s)); done {
			return v, true
		}
	}
	return decision{}, false
}

// D25: an answer is chosen, shown, and given by a chord after a pause.
func TestDialog(t *testing.T) {
	yes := func(s broker.Scope) decision { return decision{effect: access.Allow, answer: broker.Answer{Scope: s}} }
	for _, c := range []struct {
		typed []string
		want  decision
	}{
		{[]string{"a", "\x0f"}, yes(broker.Once)},
		{[]string{"a", "p", "\x0f"}, yes(broker.Path)},
		{[]string{"a", "t", "o", "\x0f"}, yes(broker.Once)},
		{[]string{"a", "s", "\x0f"}, yes(broker.Session)},
		{[]string{"a", "x", "\x0f", "a", "\x0f"}, yes(broker.Once)},
		{[]string{"d", "\x18"}, decision{effect: access.Deny}},
		{[]string{"d", "not so\r\x7f\x7fno", "\x18"}, decision{effect: access.Deny, reason: "not no"}},
		{[]string{"d", "gone\x15never", "\x0f", "\x18"}, decision{effect: access.Deny, reason: "never"}},
		{[]string{"d", "a\x1b[Ab", "\x1b", "d", "other\x18"}, decision{effect: access.Deny, reason: "other"}},
		{[]string{"\x18"}, decision{}},
	} {
		var out strings.Builder
		got, done := newDialog(&out).slowly(c.typed...)
		require.True(t, done, "%q", c.typed)
		require.Equal(t, c.want, got, "%q", c.typed)
	}
	for _, typed := range [][]string{
		{"\x0f"}, {"a\x0f"}, {"a", "p\x0f"}, {"a", "y", "\x0f"}, {"a", "\r", "\x0f"}, {"a", "\x0f\x0f"}, {"a", "\x1b\x0f", "\x0f"}, {"y\r"}, {"yes", "\r"},
		{"d", "\r"}, {"d", "\x0f"}, {"a", "\x18"}, {"ad", "\x0f"}, {"a", "\xc2\x8f", "\x0f"}, {"a", "\x8f", "\x0f"}, {"a", "\x1b[111;5u", "\x0f"},
	} {
		_, done := newDialog(io.Discard).slowly(typed...)
		require.False(t, done, "%q", typed)
	}
	// What is typed as the question comes goes on, and is ignored to its end.
	d := newDialog(io.Discard)
	for range 100 {
		d.now = d.now.Add(keyburst.Pause / 2)
		_, done := d.take(d.now, []byte("d"))
		require.False(t, done)
	}
	require.Zero(t, d.chosen)
}

// oldAnswer is what once was an answer: a line of one letter.
func oldAnswer(typed string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(typed, func(c rune) bool { return c == '\r' || c == '\n' }), func(line string) bool {
		return slices.Contains([]string{"y", "yes", "p", "t", "s"}, strings.TrimSpace(line))
	})
}

// Whatever is typed without the chords, at whatever speed, is no answer; with a
// chord an approval is one only by itself, after a pause.
func TestTypingIsNoRuling(t *testing.T) {
	pieces := []string{"\ry\r", "a", "d", "y", "yes", "o", "p", "t", "s", "n", " ", "\r", "\n", "\t", "\x7f", "\x1b", "\x1b[A", "\x1b[", "\x1bO", "\x1b[200~a y\r\x1b[201~", "ä", "漢", "\x8f", "\x98", "because it is needed", "\x01", "\x19"}
	old := 0
	rapid.Check(t, func(t *rapid.T) {
		d := newDialog(io.Discard)
		var all strings.Builder
		for range rapid.IntRange(1, 60).Draw(t, "keys") {
			d.now = d.now.Add(time.Duration(rapid.Int64Range(0, int64(2*keyburst.Pause)).Draw(t, "gap")))
			typed := rapid.SampledFrom(pieces).Draw(t, "typed")
			all.WriteString(typed)
			if v, done := d.take(d.now, []byte(typed)); done {
				t.Fatalf("%q answers: %+v", typed, v)
			}
		}
		if oldAnswer(all.String()) {
			old++
		}
		chosen := d.chosen
		d.now = d.now.Add(keyburst.Pause)
		if v, _ := d.take(d.now, []byte("\x0f")); v.effect == access.Allow != (chosen == 'a') {
			t.Fatalf("chosen %q, and approved: %v", chosen, v.effect == access.Allow)
		}
	})
	require.Positive(t, old, "the typing would not find an answer that typing gives")
	clitest.AnswersRow(t, "../../../../../testdata/answers.txt", "typing", "run-terminal", fmt.Sprintf("the control in %d of the bursts", old))
}
