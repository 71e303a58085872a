package cli

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
//     printed: no name moves the cursor or forges a line.
//   - Colours only where the stream is a terminal, NO_COLOR is unset or empty
//     (https://no-color.org) and TERM is not "dumb".
//   - `pinfold run` prints nothing when all went well and no terminal looks on.
//   - --json (or --format json) prints one document by WriteJSON: stable
//     snake_case keys, an empty list and never null for "none", text escaped
//     by EscapePath, a published schema in docs/schema and a test that holds
//     the output to it. Exit codes are those of the text.

// Output is both streams of one invocation.
type Output struct {
	Stdout, Stderr Stream
	warned         map[string]bool // see WarnOnce
}

// Stream is one of them.
type Stream struct {
	io.Writer
	Terminal bool
	colour   bool
}

// NewOutput is the output to two streams.
func NewOutput(stdout, stderr io.Writer) *Output {
	return &Output{Stdout: NewStream(stdout), Stderr: NewStream(stderr)}
}

// NewStream looks whether w is a terminal, and wants colours.
func NewStream(w io.Writer) Stream {
	s := Stream{Writer: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.Terminal = true
		s.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return s
}

// Colours by what they say, as SGR parameters.
const (
	ColourBad  = "31"
	ColourWarn = "33"
	ColourGood = "32"
	ColourDim  = "2"
)

// Paint colours text where the stream wants colours.
func (s Stream) Paint(colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// Printf writes to the stream. If the reader has gone away that is not an error of
// ours.
func (s Stream) Printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s, format, args...)
}

// WriteJSON prints v indented, and leaves <, > and & as they are.
func WriteJSON(w io.Writer, v any) error { return EncodeJSON(w, v, "  ") }

// EncodeJSON writes v as JSON without any character that a terminal would act on.
// Names are chosen by agents, and encoding/json escapes only the first 32 characters.
func EncodeJSON(w io.Writer, v any, indent string) error {
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

// Failure prints an error that a command returned, with its hints.
func (o *Output) Failure(err error) {
	var invalid *pathresolver.ConfigError
	var e *ExitError
	switch {
	case errors.As(err, &invalid):
		o.Violations(invalid.Violations)
		return
	case errors.As(err, &e) && e.Err == nil:
		return
	}
	o.Error(err.Error())
	if e != nil && e.Hint != "" {
		o.Hint(e.Hint)
	}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		o.Hint(hinted.Hint())
	}
}

// Violations prints what was found wrong with a policy.
func (o *Output) Violations(list []pathresolver.Violation) {
	for _, v := range list {
		if v.Severity == pathresolver.SeverityWarning {
			o.Warning(v.Message)
		} else {
			o.Error(v.Message)
		}
		if v.Hint != "" {
			o.Hint(v.Hint)
		}
	}
}

// Error prints an error.
func (o *Output) Error(text string) { o.say(ColourBad, "error", text) }

// Warning prints a warning.
func (o *Output) Warning(text string) { o.say(ColourWarn, "warning", text) }

// WarnOnce warns of what several steps of one command may meet.
func (o *Output) WarnOnce(text string) {
	if !o.warned[text] {
		o.Warning(text)
		o.warned = map[string]bool{text: true}
	}
}

// Hint prints what to do about the message before it.
func (o *Output) Hint(text string) { o.say(ColourDim, "hint", text) }

func (o *Output) say(colour, kind, text string) {
	// Not every error that comes from elsewhere escapes the names in it.
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = pathresolver.EscapePath(lines[i])
	}
	o.Stderr.Printf("pinfold: %s %s\n", o.Stderr.Paint(colour, kind+":"), strings.Join(lines, "\n  "))
}

// WarnUnset warns of variables that --env names and nobody set: the command would find
// none, and not say why it fails.
func (o *Output) WarnUnset(env []string) {
	for _, kv := range env {
		if strings.Contains(kv, "=") {
			continue
		}
		if _, set := os.LookupEnv(kv); !set {
			o.Warning(fmt.Sprintf("--env %s passes nothing on: %[1]s is not set", pathresolver.EscapePath(kv)))
			o.Hint("set it, or give its value: --env " + pathresolver.EscapePath(kv) + "=VALUE")
		}
	}
}
