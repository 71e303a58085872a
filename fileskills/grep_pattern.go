package fileskills

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// linePattern finds the lines that match an expression. Most files hold none:
// what every match must contain is looked for first, which costs a fraction of
// running the expression.
type linePattern struct {
	re        *regexp.Regexp // nil: a line matches that holds one of needles
	needles   [][]byte       // one of them is in every match; none: not known
	fold      bool           // needles are lower-case ASCII, for a lower-case text
	multiline bool           // matches may run over line ends
}

// maxNeedles bounds the alternatives that are looked for one by one.
const maxNeedles = 8

type grepFlags struct{ literal, ignoreCase, multiline bool }

func newLinePattern(expr string, f grepFlags) (*linePattern, error) {
	expr = lineFeeds(expr)
	if len(expr) > maxPattern {
		return nil, fail(CodeInvalidRegex, "", "pattern is %d bytes; more than %d are not taken.", len(expr), maxPattern)
	}
	if expr == "" {
		return nil, fail(CodeInvalidArgument, "", "pattern is empty.")
	}
	flags := syntax.Perl &^ syntax.OneLine // ^ and $ are those of a line
	if f.literal {
		flags |= syntax.Literal
	}
	if f.ignoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(expr, flags)
	if err != nil {
		return nil, badSearch(expr, err)
	}
	if weigh(tree) > maxWeight {
		return nil, fail(CodeInvalidRegex, "", "pattern is too large: its repetitions come to more than %d steps.", maxWeight).
			hint("Repeat less, or use * and + instead of counts.")
	}
	if !f.multiline {
		if spansLines(tree) {
			return nil, fail(CodeInvalidArgument, "", "pattern holds a line feed, and each line is matched by itself.").
				hint("Set multiline=true.")
		}
		tree = withinLine(tree)
	}
	p := &linePattern{multiline: f.multiline}
	exact := p.need(tree)
	if exact && !f.multiline {
		return p, nil
	}
	if p.re, err = regexp.Compile(tree.String()); err != nil {
		return nil, badSearch(expr, err)
	}
	return p, nil
}

// badSearch is badPattern for a skill that changes nothing anyway.
func badSearch(expr string, err error) error {
	err = badPattern(expr, err)
	var e *Error
	if errors.As(err, &e) {
		e.Message = strings.TrimSuffix(e.Message, " Nothing was changed.")
	}
	return err
}

// spansLines reports whether a line feed stands in the expression as such.
func spansLines(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		for _, r := range re.Rune {
			if r == '\n' {
				return true
			}
		}
	}
	if re.Op == syntax.OpCharClass && len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n' {
		return true
	}
	for _, sub := range re.Sub {
		if spansLines(sub) {
			return true
		}
	}
	return false
}

// withinLine makes an expression that can match no line feed, so that it can
// be run over many lines at once: classes lose it, and the ends of the text
// become those of a line.
func withinLine(re *syntax.Regexp) *syntax.Regexp {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
	case syntax.OpCharClass:
		re.Rune = withoutNewline(re.Rune)
		if len(re.Rune) == 0 {
			return &syntax.Regexp{Op: syntax.OpNoMatch}
		}
	}
	for i, sub := range re.Sub {
		re.Sub[i] = withinLine(sub)
	}
	return re
}

// withoutNewline takes '\n' out of the ranges of a class.
func withoutNewline(ranges []rune) []rune {
	var out []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if lo > '\n' || hi < '\n' {
			out = append(out, lo, hi)
			continue
		}
		if lo < '\n' {
			out = append(out, lo, '\n'-1)
		}
		if hi > '\n' {
			out = append(out, '\n'+1, hi)
		}
	}
	return out
}

// need sets what every match contains. exact says that nothing else decides.
func (p *linePattern) need(re *syntax.Regexp) (exact bool) {
	words, exact := required(re)
	for _, w := range words {
		p.fold = p.fold || w.fold
	}
	for _, w := range words {
		text := w.text
		if p.fold {
			folded := foldable(text)
			exact = exact && w.fold && folded == text
			text = strings.ToLower(folded)
		}
		if text == "" {
			p.needles, p.fold = nil, false
			return false
		}
		p.needles = append(p.needles, []byte(text))
	}
	return exact && len(words) > 0
}

// word is a text that a match must contain, in any case if fold is set.
type word struct {
	text string
	fold bool
}

// required returns texts of which every match contains at least one; none when
// that is not known. exact says that whatever contains one is a match.
func required(re *syntax.Regexp) (words []word, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []word{{string(re.Rune), re.Flags&syntax.FoldCase != 0}}, true
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		words, _ = required(re.Sub[0])
		return words, false
	case syntax.OpRepeat:
		if re.Min > 0 {
			words, _ = required(re.Sub[0])
		}
		return words, false
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if w, _ := required(sub); better(w, words) {
				words = w
			}
		}
		return words, false
	case syntax.OpAlternate:
		exact = true
		for _, sub := range re.Sub {
			w, whole := required(sub)
			if exact = exact && whole; len(w) == 0 || len(words)+len(w) > maxNeedles {
				return nil, false
			}
			words = append(words, w...)
		}
		return words, exact
	}
	return nil, false
}

// better reports whether texts are rarer than others: longer, and fewer.
func better(a, b []word) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) > 0
	}
	if sa, sb := shortest(a), shortest(b); sa != sb {
		return sa > sb
	}
	return len(a) < len(b)
}

func shortest(words []word) int {
	n := len(words[0].text)
	for _, w := range words {
		n = min(n, len(w.text))
	}
	return n
}

// foldable is the longest part of a text whose letters have no other case than
// those of ASCII. The letters k and s have: U+212A and U+017F.
func foldable(text string) string {
	best := ""
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r > unicode.MaxASCII || strings.ContainsRune("kKsS", r)
	}) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// lineFinder goes through a text that begins at the begin of a line and ends
// with a line.
type lineFinder struct {
	p    *linePattern
	text []byte
	low  []byte // text in lower case, where the pattern wants it
	next []int  // where each needle is next; len(text): nowhere
}

// finder begins a search. low is a buffer to use, which it returns grown.
func (p *linePattern) finder(text, low []byte) (lineFinder, []byte) {
	f := lineFinder{p: p, text: text, low: text}
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
			loc := f.p.re.FindIndex(f.text[pos:])
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
			if loc := f.p.re.FindIndex(f.text[pos:]); loc != nil {
				start, end = lineAround(f.text, pos+loc[0])
				return start, end, pos + loc[0], pos + loc[1], true
			}
			return 0, 0, 0, 0, false
		}
		if loc := f.p.re.FindIndex(f.text[start:end]); loc != nil {
			return start, end, start + loc[0], start + loc[1], true
		}
		pos = end + 1
	}
	return 0, 0, 0, 0, false
}

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
