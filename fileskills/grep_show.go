package fileskills

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// showLine makes a line fit to be shown: cut around the match where it is
// long, with what is not printable escaped.
func showLine(line []byte, from int) string {
	before, after := 0, 0
	if len(line) > maxLine {
		before = max(0, min(from-maxLine/4, len(line)-maxLine))
		for range utf8.UTFMax - 1 { // not within a character
			if before > 0 && !utf8.RuneStart(line[before]) {
				before--
			}
		}
		cut := clipBytes(line[before:], maxLine+utf8.UTFMax)
		after = len(line) - before - len(cut)
		line = cut
	}
	var b strings.Builder
	if before > 0 {
		b.WriteString("[" + strconv.Itoa(before) + " bytes] …")
	}
	escapeLine(&b, line)
	if after > 0 {
		b.WriteString("… [" + strconv.Itoa(after) + " more bytes of this line]")
	}
	return b.String()
}

// escapeLine writes text as it is, but bytes that are no UTF-8 and control
// characters other than tabs as escapes.
func escapeLine(b *strings.Builder, text []byte) {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + string("0123456789abcdef"[text[0]>>4]) + string("0123456789abcdef"[text[0]&15]))
		case r != '\t' && unicode.IsControl(r):
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.Write(text[:n])
		}
		text = text[n:]
	}
}
