package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// askTerminal is where the operator is asked, one line at a time.
type askTerminal interface {
	io.Writer
	io.Closer

	// Forget drops what was typed and not read yet: it was meant for another
	// program. It waits while this one is in the background.
	Forget(ctx context.Context) error
	// ReadLine returns the next line, or an error when ctx is done.
	ReadLine(ctx context.Context) (string, error)
}

// ttyAnswers asks the operator at the terminal that the command runs on. The
// command has to leave it alone meanwhile, and never sees what is typed here.
type ttyAnswers struct {
	tty     askTerminal
	pause   *launcher.Pause
	propose func(context.Context, broker.Identity, string) (brokerhttp.Proposal, error)
}

const (
	ttyTries = 3  // at a line that is an answer
	ttyLines = 40 // of a difference
)

// answer asks. What is left without an answer stays pending.
func (t *ttyAnswers) answer(ctx context.Context, r broker.Request) ruling {
	p, _ := t.propose(ctx, broker.OperatorIdentity(), r.ID) // without it what is asked is shown all the same
	ctx, release := t.pause.Take(ctx)
	defer release()
	if t.tty.Forget(ctx) != nil {
		return ruling{}
	}
	_, _ = io.WriteString(t.tty, ttyPlain+ttyQuestion(r, p)) // one that nobody reads gets no answer
	for range ttyTries {
		_, _ = io.WriteString(t.tty, "Allow it? y = this once, p = this path, t = what is beneath it too, s = for the session, n [REASON] = no, nothing = later: ")
		line, err := t.tty.ReadLine(ctx)
		if err != nil {
			_, _ = fmt.Fprintf(t.tty, "\npinfold: request %s is not asked about here any more\n", r.ID)
			return ruling{}
		}
		v, err := parseRuling(line)
		if err == nil {
			if v == (ruling{}) {
				_, _ = fmt.Fprintf(t.tty, "pinfold: left: 'pinfold approve %s' in another terminal allows it\n", r.ID)
			}
			return v
		}
		_, _ = fmt.Fprintf(t.tty, "pinfold: %v\n", err)
	}
	return ruling{}
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

// parseRuling is a line as an answer. An empty one is none.
func parseRuling(line string) (ruling, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	scope := broker.Once
	switch strings.ToLower(word) {
	case "":
		return ruling{}, nil
	case "n", "no":
		return ruling{deny: true, reason: strings.TrimSpace(rest)}, nil
	case "y", "yes":
	case "p", "path":
		scope = broker.Path
	case "t", "subtree":
		scope = broker.Subtree
	case "s", "session":
		scope = broker.Session
	default:
		return ruling{}, errors.New("that is no answer")
	}
	if rest != "" {
		return ruling{}, errors.New("that is no answer: only n takes a reason")
	}
	return ruling{approve: true, answer: broker.Answer{Scope: scope}}, nil
}
