package fileskills

import (
	"bytes"
	"context"
	"time"
)

// The bounds on what one file may cost. A search is linear in the text, but all
// matches over line ends together need not be: see maxRegexWork.
const (
	maxDirectWork = 1 << 28          // bytes times weight, of a search that is not interrupted
	maxFindTime   = 10 * time.Second // of all matches in one window
)

// lineFinder goes through a text that begins at the begin of a line and ends
// with a line.
type lineFinder struct {
	ctx  context.Context
	err  error     // why find gave up
	from time.Time // of the first match
	p    *linePattern
	text []byte
	low  []byte // text in lower case, where the pattern wants it
	next []int  // where each needle is next; len(text): nowhere
}

// finder begins a search. low is a buffer to use, which it returns grown.
func (p *linePattern) finder(ctx context.Context, text, low []byte) (lineFinder, []byte) {
	f := lineFinder{ctx: ctx, from: time.Now(), p: p, text: text, low: text}
	if p.fold {
		low = lowerASCII(low[:0], text)
		f.low = low
	}
	if len(p.needles) > 0 {
		f.next = make([]int, len(p.needles))
		for i, n := range p.needles {
			f.next[i] = indexFrom(f.low, n, 0)
		}
	}
	return f, low
}

// find returns the first matching line at or after pos, which is the begin of
// a line, and where in it the match lies: from and to. A match of several
// lines ends beyond the line.
func (f *lineFinder) find(pos int) (start, end, from, to int, ok bool) {
	for pos < len(f.text) {
		if len(f.p.needles) == 0 {
			loc := f.index(f.text[pos:])
			if loc == nil || pos+loc[0] == len(f.text) && f.text[len(f.text)-1] == '\n' {
				return 0, 0, 0, 0, false // nothing, or the nothing after the last line
			}
			from, to = pos+loc[0], pos+loc[1]
			start, end = lineAround(f.text, from)
			return start, end, from, to, true
		}
		at, n := f.candidate(pos)
		if at == len(f.text) {
			break
		}
		start, end = lineAround(f.text, at)
		switch {
		case f.p.re == nil:
			return start, end, at, at + n, true
		case f.p.multiline:
			// The needle may stand at the end of the match.
			if loc := f.index(f.text[pos:]); loc != nil {
				start, end = lineAround(f.text, pos+loc[0])
				return start, end, pos + loc[0], pos + loc[1], true
			}
			return 0, 0, 0, 0, false
		}
		if loc := f.index(f.text[start:end]); loc != nil {
			return start, end, start + loc[0], start + loc[1], true
		}
		if f.err != nil {
			break
		}
		pos = end + 1
	}
	return 0, 0, 0, 0, false
}

// index is where the expression matches in text, nil for nowhere or when it
// gave up.
func (f *lineFinder) index(text []byte) []int {
	if f.p.multiline {
		if f.err = f.ctx.Err(); f.err == nil && time.Since(f.from) > maxFindTime {
			f.err = errTooCostly
		}
		if f.err != nil {
			return nil
		}
	}
	if len(text) <= maxDirectWork/f.p.weight {
		return f.p.re.FindIndex(text)
	}
	in := &regexInput{ctx: f.ctx, text: text, budget: maxRegexWork / f.p.weight}
	loc := f.p.re.FindReaderIndex(in)
	if f.err = f.ctx.Err(); f.err == nil && in.budget <= 0 {
		f.err = errTooCostly
	}
	if f.err != nil {
		return nil
	}
	return loc
}

// errTooCostly ends the search of a file whose lines, or matches over line
// ends, take the pattern too long.
var errTooCostly = fail(CodeTooLarge, "", "the pattern is too costly for this file.").
	hint("Make it more definite: repeat less, avoid .* that can run to the end of the file.")

// candidate is where a needle is next, and its length.
func (f *lineFinder) candidate(pos int) (at, n int) {
	at = len(f.text)
	for i, needle := range f.p.needles {
		if f.next[i] < pos {
			f.next[i] = indexFrom(f.low, needle, pos)
		}
		if f.next[i] < at {
			at, n = f.next[i], len(needle)
		}
	}
	return at, n
}

// indexFrom is where needle is in text at or after pos, len(text) if nowhere.
func indexFrom(text, needle []byte, pos int) int {
	if i := bytes.Index(text[pos:], needle); i >= 0 {
		return pos + i
	}
	return len(text)
}

// lineAround are the bounds of the line that at stands in, without its end.
func lineAround(text []byte, at int) (start, end int) {
	start = bytes.LastIndexByte(text[:at], '\n') + 1
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return start, at + i
	}
	return start, len(text)
}

// lowerASCII appends src with the letters of ASCII in lower case.
func lowerASCII(dst, src []byte) []byte {
	at := len(dst)
	dst = append(dst, src...)
	for i, c := range dst[at:] {
		if c-'A' < 26 {
			dst[at+i] = c + 'a' - 'A'
		}
	}
	return dst
}
