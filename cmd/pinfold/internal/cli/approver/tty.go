package approver

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// askTerminal is where the operator is asked, key by key.
type askTerminal interface {
	io.Writer
	io.Closer

	// Take waits for the foreground, drops what was typed and not read yet, since
	// it was meant for another program, and has keys come as they are typed, not
	// shown. release undoes that, and drops what was typed behind the answer.
	Take(ctx context.Context) (release func(), err error)
	// ReadKeys returns what was typed since, at least one byte, or an error when
	// ctx is done.
	ReadKeys(ctx context.Context) ([]byte, error)
}

// ttyAnswers asks the operator at the terminal that the command runs on. The
// command has to leave it alone meanwhile, and never sees what is typed here.
type ttyAnswers struct {
	tty     askTerminal
	pause   *launcher.Pause
	propose func(context.Context, broker.Identity, string) (brokerhttp.Proposal, error)
}

const ttyLines = 40 // of a difference

// answer asks. What is left without an answer stays pending.
func (t *ttyAnswers) answer(ctx context.Context, r broker.Request) decision {
	p, _ := t.propose(ctx, broker.OperatorIdentity(), r.ID) // without it what is asked is shown all the same
	ctx, release := t.pause.Take(ctx)
	defer release()
	giveBack, err := t.tty.Take(ctx)
	if err != nil {
		return decision{}
	}
	defer giveBack()
	_, _ = io.WriteString(t.tty, ttyPlain+ttyQuestion(r, p)) // one that nobody reads gets no answer
	d := newTTYDialog(t.tty, r, time.Now())
	for {
		typed, err := t.tty.ReadKeys(ctx)
		if err != nil {
			_, _ = fmt.Fprintf(t.tty, "\npinfold: request %s is not asked about here any more\n", r.ID)
			return decision{}
		}
		if v, done := d.take(time.Now(), typed); done {
			return v
		}
	}
}

// ttyPlain has a terminal show what follows, whatever the command has told it
// before: text that is concealed, of the background's colour, within a string
// that has no end, for the printer or in one line at the screen's edge would
// have the operator answer what the command asks instead.
const ttyPlain = "\x18\x1b<\x1b\\" + // any sequence ends; ANSI mode
	"\x1b[4i\x1b[?2026l" + // shown, and at once
	"\x1b7\x1b[?69l\x1b[r\x1b8" + // the whole screen scrolls
	"\x1b%G\x1b(B\x0f\x1b[m\x1b[4l\x1b[?7h\x1b[?25h" + // letters, plain
	"\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\" + // in the user's colours
	"\x1b[J"

// ttyQuestion is what is asked for, all of it escaped.
func ttyQuestion(r broker.Request, p brokerhttp.Proposal) string {
	esc := pathresolver.EscapePath
	var b strings.Builder
	fmt.Fprintf(&b, "\npinfold: %s asks for %s '%s'\n", esc(r.AgentID), esc(string(r.Action)), esc(r.Resource))
	for _, a := range r.Also {
		fmt.Fprintf(&b, "  and %s '%s'\n", esc(string(a.Action)), esc(a.Resource))
	}
	if r.Tool != "" {
		fmt.Fprintf(&b, "  tool: %s\n", esc(r.Tool))
	}
	if r.Reason != "" {
		fmt.Fprintf(&b, "  reason: %s\n", esc(r.Reason))
	}
	lines := strings.Split(strings.TrimSuffix(p.Diff, "\n"), "\n")
	if p.Diff == "" {
		lines = nil
	}
	for _, line := range lines[:min(len(lines), ttyLines)] {
		b.WriteString("  " + line + "\n")
	}
	if len(lines) > ttyLines {
		fmt.Fprintf(&b, "  … %d more lines: 'pinfold requests show %s'\n", len(lines)-ttyLines, r.ID)
	}
	return b.String()
}
