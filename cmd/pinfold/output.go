package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/term"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Rules of output
//
//   - stdout carries the answer and nothing else, so that it can be piped.
//   - stderr carries what pinfold has to say: `pinfold: error: ...`, then
//     `pinfold: warning: ...`, then `pinfold: hint: ...`. Each further line of
//     a message is indented by two spaces.
//   - Messages are lower-case and end without a full stop.
//   - What others named (paths, links, programs) is escaped before it is
//     printed (V11): no name moves the cursor or forges a line.
//   - Colours only where the stream is a terminal, NO_COLOR is unset or empty
//     (https://no-color.org) and TERM is not "dumb".
//   - `pinfold run` prints nothing when all went well and no terminal looks on.
//   - --json (or --format json) prints one document by writeJSON: stable
//     snake_case keys, an empty list and never null for "none", text escaped
//     by EscapePath, a published schema in docs/schema and a test that holds
//     the output to it. Exit codes are those of the text.

// output is both streams of one invocation.
type output struct {
	stdout, stderr stream
	warned         map[string]bool // see warnOnce
}

// stream is one of them.
type stream struct {
	io.Writer
	terminal bool
	colour   bool
}

func newOutput(stdout, stderr io.Writer) *output {
	return &output{stdout: newStream(stdout), stderr: newStream(stderr)}
}

func newStream(w io.Writer) stream {
	s := stream{Writer: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.terminal = true
		s.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return s
}

// Colours by what they say, as SGR parameters.
const (
	colourBad  = "31"
	colourWarn = "33"
	colourGood = "32"
	colourDim  = "2"
)

// paint colours text where the stream wants colours.
func (s stream) paint(colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// printf writes to the stream. A reader that went away is not our failure.
func (s stream) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s, format, args...)
}

// writeJSON prints v indented, and leaves <, > and & as they are.
func writeJSON(w io.Writer, v any) error { return encodeJSON(w, v, "  ") }

// encodeJSON writes v in which nothing is left that a terminal obeys: names hold
// what an agent wants, and encoding/json escapes the first 32 characters only.
func encodeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON is the same JSON with what cannot be printed as \u escapes. Outside
// of strings there is only ASCII, so it need not know where they begin.
func escapeJSON(data []byte) []byte {
	hidden := func(c rune) bool { return c >= 0x7f && !strconv.IsPrint(c) }
	if bytes.IndexFunc(data, hidden) < 0 {
		return data
	}
	var b bytes.Buffer
	for _, c := range string(data) {
		switch {
		case !hidden(c):
			b.WriteRune(c)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.Bytes()
}

// failure prints an error that a command returned, with its hints.
func (o *output) failure(err error) {
	var invalid *pathresolver.ConfigError
	var e *exitError
	switch {
	case errors.As(err, &invalid):
		o.violations(invalid.Violations)
		return
	case errors.As(err, &e) && e.err == nil:
		return
	}
	o.error(err.Error())
	if e != nil && e.hint != "" {
		o.hint(e.hint)
	}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		o.hint(hinted.Hint())
	}
}

// violations prints what was found wrong with a policy.
func (o *output) violations(list []pathresolver.Violation) {
	for _, v := range list {
		if v.Severity == pathresolver.SeverityWarning {
			o.warning(v.Message)
		} else {
			o.error(v.Message)
		}
		if v.Hint != "" {
			o.hint(v.Hint)
		}
	}
}

func (o *output) error(text string)   { o.say(colourBad, "error", text) }
func (o *output) warning(text string) { o.say(colourWarn, "warning", text) }

// warnOnce warns of what several steps of one command may meet.
func (o *output) warnOnce(text string) {
	if !o.warned[text] {
		o.warning(text)
		o.warned = map[string]bool{text: true}
	}
}

func (o *output) hint(text string) { o.say(colourDim, "hint", text) }

func (o *output) say(colour, kind, text string) {
	// Not every error that comes from elsewhere escapes the names in it.
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = pathresolver.EscapePath(lines[i])
	}
	o.stderr.printf("pinfold: %s %s\n", o.stderr.paint(colour, kind+":"), strings.Join(lines, "\n  "))
}
