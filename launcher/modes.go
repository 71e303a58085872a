package launcher

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// modes follows what a command writes to a terminal, as far as it takes to put
// the terminal back afterwards: it may be left with concealed text, without a
// cursor, with the mouse reported as keys, or about to answer a question, which
// the shell would take for a typed line. A command that writes no escape
// sequences costs a look at each byte and causes no output.
//
// The grammar is that of ECMA-48 as terminals implement it
// (https://vt100.net/emu/dec_ansi_parser). A command that confuses this parser
// still gets everything of resetAlways.
type modes struct {
	state   screenState
	rest    int    // bytes of a character that are still to come
	params  []byte // of a CSI sequence, with its prefix and intermediates; at most maxParams
	touched bool   // there was a sequence at all
	asked   bool   // the terminal may answer, or report something
	seen    [len(resetSeen)]bool
}

type screenState uint8

const (
	inText      screenState = iota
	inEscape                // after ESC
	inCharset               // after ESC and an intermediate
	inCSI                   // after ESC [
	inOSC                   // after ESC ]
	inString                // after ESC P, X, ^ or _
	inOSCEsc                // ESC in an OSC
	inStringEsc             // ESC in another string
	inC1                    // after the first byte of U+0080 to U+009F in UTF-8
)

// maxParams bounds what is kept of one sequence.
const maxParams = 64

const (
	esc = 0x1b
	can = 0x18
	sub = 0x1a
	bel = 0x07
	enq = 0x05
	so  = 0x0e
)

// reset is what is put back where the command has touched it.
type reset int

const (
	resetOrigin reset = iota // which moves the cursor: here to the last line
	resetRegion
	resetShape
	resetKitty
	resetOtherKeys
	resetColours
	resetEncoding
	resetTabs
	resetAlternate // 1049, last: with the cursor's position before it
)

// resetSeen are sequences that not every terminal takes well, or that move
// something: only where the like was used.
var resetSeen = [...]string{
	resetOrigin:    "\x1b[?6l\x1b[999H",
	resetRegion:    "\x1b7\x1b[?69l\x1b[r\x1b8",
	resetShape:     "\x1b[0 q",
	resetKitty:     "\x1b[<99u\x1b[=0;1u",
	resetOtherKeys: "\x1b[>4;0m\x1b[m",
	resetColours:   "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\",
	resetEncoding:  "\x1b%G",
	resetTabs:      "\x1b[?5W",
	resetAlternate: "\x1b[?1049l",
}

// resetAlways clears neither the screen nor what was scrolled off it, and leaves
// the cursor where it is.
const resetAlways = "\x18\x1b\\" + // any sequence and string ends
	"\x1b[4i\x1b[?4i\x1b[?2026l" + // to the screen, not the printer, and at once
	"\x1b[?47l\x1b[?1047l" + // the ordinary screen
	"\x1b[!p" + // soft reset, DECSTR
	"\x1b[m\x1b]8;;\x1b\\\x1b(B\x1b)B\x0f" + // plain letters, no link
	"\x1b[2l\x1b[4l\x1b[20l\x1b[?5l\x1b[?7h\x1b[?25h" + // unlocked, overwriting, wrapping, with a cursor
	"\x1b[?1l\x1b[?66l\x1b>" + // the keys' ordinary codes
	"\x1b[?9l\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l" + // no mouse, no focus
	"\x1b[?2004l\x1b[?2031l\x1b[?2048l" // pasted as typed; nothing reported

// resets is what puts the terminal back; "" where nothing was touched.
func (s *modes) resets() string {
	if !s.touched {
		return ""
	}
	var b strings.Builder
	b.WriteString(resetAlways[:len("\x18\x1b\\")])
	for i, seen := range s.seen {
		if seen {
			b.WriteString(resetSeen[i])
		}
	}
	b.WriteString(resetAlways)
	return b.String()
}

// write follows what is written.
func (s *modes) write(data []byte) {
	for _, c := range data {
		if s.state != inText || s.rest > 0 || c < 0x20 || c >= 0x7f { // most of all text is plain
			s.byte(c)
		}
	}
}

func (s *modes) byte(c byte) {
	if s.rest > 0 && c&0xc0 == 0x80 {
		s.rest--
		return
	}
	s.rest = 0
	switch {
	case s.state == inC1:
		s.state = inText
		if c >= 0x80 && c <= 0x9f {
			s.touched = true
			s.escape(c - 0x40) // U+009B is ESC [
		}
		return
	case c == can || c == sub:
		s.state = inText
		return
	case c == esc:
		s.touched = true
		switch s.state {
		case inOSC:
			s.state = inOSCEsc
		case inString:
			s.state = inStringEsc
		default:
			s.state = inEscape
		}
		return
	}
	switch s.state {
	case inText:
		switch {
		case c == enq:
			s.touched, s.asked = true, true
		case c == so:
			s.touched = true
		case c == 0xc2:
			s.state = inC1
		case c > 0xc2:
			s.rest = 1
			if c >= 0xe0 {
				s.rest = 2
			}
			if c >= 0xf0 {
				s.rest = 3
			}
		case c >= 0x80 && c <= 0x9f:
			// A terminal that is not one of UTF-8 takes it for a sequence.
			s.touched, s.asked = true, true
		}
	case inEscape:
		s.escape(c)
	case inCharset:
		if c >= 0x30 {
			s.state = inText
		}
	case inCSI:
		s.csi(c)
	case inOSC:
		s.osc(c)
	case inString:
	case inOSCEsc, inStringEsc:
		s.escape(c) // the string has ended, by \ or by another sequence
	}
}

// escape is called with what follows ESC.
func (s *modes) escape(c byte) {
	s.state, s.params = inText, s.params[:0]
	switch c {
	case '[':
		s.state = inCSI
	case ']':
		s.state = inOSC
	case 'P', 'X', '^', '_':
		s.state, s.asked = inString, true
	case 'Z', 'c':
		s.asked = true
	case 'H':
		s.seen[resetTabs] = true
	case '%':
		s.seen[resetEncoding] = true
		s.state = inCharset
	default:
		if c >= 0x20 && c < 0x30 {
			s.state = inCharset
		}
	}
}

// quiet are the ends of sequences that the terminal does not answer.
const quiet = "ABCDEFGHIJKLMPSTXZ@`abdefghilmrs"

// csi is called with each byte of a sequence.
func (s *modes) csi(c byte) {
	if c < 0x40 {
		if c >= 0x20 && len(s.params) < maxParams {
			s.params = append(s.params, c)
		}
		return
	}
	s.state = inText
	private := byte(0)
	if len(s.params) > 0 && s.params[0] >= '<' {
		private = s.params[0]
	}
	if strings.IndexByte(quiet, c) < 0 || private == '?' && c == 'S' {
		s.asked = true
	}
	switch {
	case private == '?' && (c == 'h' || c == 'l'):
		s.mode(c == 'h')
	case c == 'r':
		s.seen[resetRegion] = true
	case c == 'q' && bytes.HasSuffix(s.params, []byte(" ")):
		s.seen[resetShape] = true
	case c == 'u' && private != 0:
		s.seen[resetKitty] = true
	case c == 'm' && private == '>':
		s.seen[resetOtherKeys] = true
	case c == 'g' || c == 'W':
		s.seen[resetTabs] = true
	}
}

// reporting are the modes in which a terminal sends what nobody has typed.
var reporting = []string{"9", "1000", "1001", "1002", "1003", "1004", "2031", "2048"}

// mode notes what private modes are set or reset.
func (s *modes) mode(set bool) {
	for m := range strings.SplitSeq(string(s.params[1:]), ";") {
		switch m {
		case "1049":
			s.seen[resetAlternate] = set
		case "6":
			s.seen[resetOrigin] = s.seen[resetOrigin] || set
		case "69":
			s.seen[resetRegion] = true
		}
		s.asked = s.asked || set && slices.Contains(reporting, m)
	}
}

// osc is called with each byte of an operating system command.
func (s *modes) osc(c byte) {
	switch {
	case c == bel:
		s.state = inText
	case c == '?' || c == 0x9c:
		s.asked = true
	case len(s.params) < maxParams:
		if s.params = append(s.params, c); c == ';' && len(s.params) > 1 && !bytes.ContainsAny(s.params[:len(s.params)-1], ";") {
			switch string(s.params[:len(s.params)-1]) {
			case "4", "5", "10", "11", "12", "17", "19", "21":
				s.seen[resetColours] = true
			}
		}
	}
}

// fence asks the terminal where the cursor is, after it was put to a place that
// nobody else knows, and puts it back: the answer to it comes after those to all
// that was asked before. (Saving the cursor is safe once the modes are reset.)
func fence(row, column int) (ask string, answer []byte) {
	return fmt.Sprintf("\x1b7\x1b[%d;%dH\x1b[6n\x1b8", row, column), fmt.Appendf(nil, "\x1b[%d;%dR", row, column)
}
