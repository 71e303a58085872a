package fileskills

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of a pattern and of what it may cost. A single search is linear
// in the text (RE2), but all matches together need not be: a pattern that has
// to look to the end of the text to know where each match ends reads it anew
// for each. So what is read is counted.
const (
	maxPattern     = 10_000  // bytes
	maxWeight      = 10_000  // instructions, about
	maxGroups      = 100     // parentheses that can be put back
	maxRegexWork   = 1 << 33 // characters read, times weight: some ten seconds
	regexStride    = 64      // characters between two looks at the context
	stillTooMuch   = "the pattern is too costly for"
	onlyLinearTime = "Patterns are RE2, which always answers in linear time. "
)

// pattern is a compiled regular expression. The matcher cannot be interrupted,
// but its reader can; and a reader has no text before it, which ^ and \b need
// to see. So a search reads from one character before where a match may begin,
// and the expression says so itself.
type pattern struct {
	first, later *regexp.Regexp // the pattern is group 1 of both; later skips one character
	prefix       []byte         // every match begins with it
	weight       int
	names        []string // of the groups, from 0
}

func compilePattern(expr string, ignoreCase, multiline, dotAll bool) (*pattern, error) {
	expr = lineFeeds(expr)
	if len(expr) > maxPattern {
		return nil, fail(CodeInvalidRegex, "", "pattern is %d bytes; more than %d are not taken", len(expr), maxPattern)
	}
	flags := syntax.Perl
	for flag, on := range map[syntax.Flags]bool{
		syntax.FoldCase: ignoreCase, syntax.DotNL: dotAll,
	} {
		if on {
			flags |= flag
		}
	}
	if multiline {
		flags &^= syntax.OneLine
	}
	tree, err := syntax.Parse(expr, flags)
	if err != nil {
		return nil, badPattern(expr, err)
	}
	p := &pattern{weight: weigh(tree), names: tree.CapNames()}
	if p.weight > maxWeight || len(p.names) > maxGroups {
		return nil, fail(CodeInvalidRegex, "", "pattern is too large: its repetitions and groups come to more than %d steps or %d groups", maxWeight, maxGroups).
			hint("Repeat less, or use * and + instead of counts.")
	}
	plain := tree.String()
	whole, err := regexp.Compile(plain)
	if err == nil {
		p.first, err = regexp.Compile(`\A(?s:.*?)(` + plain + `)`)
	}
	if err == nil {
		p.later, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + plain + `)`)
	}
	if err != nil {
		return nil, badPattern(expr, err)
	}
	prefix, _ := whole.LiteralPrefix()
	p.prefix = []byte(prefix)
	return p, nil
}

// weigh is about the number of instructions of a compiled expression. It is
// asked before compiling, which unrolls repetitions.
func weigh(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n = min(n+weigh(sub), maxWeight+1)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n*max(re.Min, re.Max, 1), maxWeight+1)
	}
	return n
}

// match is where the groups of one match lie: start and end of each, from the
// whole at 0; -1 where a group took no part.
type match []int

// matches finds all matches in text, without overlaps, at most limit (0: all).
// Empty ones that touch the one before are left out.
func (p *pattern) matches(ctx context.Context, name string, text []byte, limit int, found func(match) error) error {
	in := &regexInput{ctx: ctx, text: text, budget: maxRegexWork / p.weight}
	for pos, n, last := 0, 0, -1; pos <= len(text) && (limit == 0 || n < limit); {
		m := p.find(in, pos)
		if err := ctx.Err(); err != nil {
			return err
		}
		if in.budget <= 0 {
			return fail(CodeTooLarge, "", "%s %s. Nothing was changed.", stillTooMuch, name).
				hint("Make it more definite: say what follows, avoid .* that can run to the end of the file.")
		}
		if m == nil {
			return nil
		}
		keep := m[0] < m[1] || m[0] != last
		last = m[1]
		if m[1] > pos {
			pos = m[1]
		} else {
			_, size := utf8.DecodeRune(text[pos:])
			pos += max(size, 1)
		}
		if keep {
			if n++; n > maxReplacements {
				return errTooMany("pattern")
			}
			if err := found(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// find is the first match that begins at pos or later, or nil.
func (p *pattern) find(in *regexInput, pos int) match {
	if len(p.prefix) > 0 {
		at := bytes.Index(in.text[pos:], p.prefix)
		if at < 0 {
			return nil
		}
		pos += at
	}
	re := p.first
	if pos > 0 {
		_, size := utf8.DecodeLastRune(in.text[:pos])
		pos -= size
		re = p.later
	}
	in.at = pos
	m := re.FindReaderSubmatchIndex(in)
	if m == nil {
		return nil
	}
	for i := range m {
		if m[i] >= 0 {
			m[i] += pos
		}
	}
	return m[2:]
}

// regexInput is the text for the matcher. When ctx ends, or too much has been
// read, the text ends, and with it the search.
type regexInput struct {
	ctx    context.Context
	text   []byte
	at     int
	budget int // characters that may still be read
}

func (in *regexInput) ReadRune() (rune, int, error) {
	in.budget--
	if in.at == len(in.text) || in.budget <= 0 || in.budget%regexStride == 0 && in.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	if c := in.text[in.at]; c < utf8.RuneSelf {
		in.at++
		return rune(c), 1, nil
	}
	r, size := utf8.DecodeRune(in.text[in.at:])
	in.at += size
	return r, size, nil
}

// badPattern says what is wrong with an expression, and names what RE2 lacks.
func badPattern(expr string, err error) *Error {
	why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	e := fail(CodeInvalidRegex, "", "pattern is not a valid regular expression: %s. Nothing was changed.", clip(why, 300))
	for _, lack := range []struct {
		is   *regexp.Regexp
		text string
	}{
		{regexp.MustCompile(`\(\?(<?[=!])`), "There is no look-around. Match the text around it too, in groups, and put it back: (a)b(c) and \\1x\\2."},
		{regexp.MustCompile(`\\[1-9]|\\k[<{']|\(\?P=`), "There are no back-references in a pattern, only in the replacement."},
		{regexp.MustCompile(`\(\?>|[*+?}]\+`), "There are no atomic groups or possessive repetitions; nothing backtracks, so plain ones do."},
		{regexp.MustCompile(`\\[ZGKR]`), "Of these there are \\A, \\z, ^ and $ only."},
	} {
		if lack.is.MatchString(expr) {
			return e.hint("%s%s", onlyLinearTime, lack.text)
		}
	}
	return e
}

// groupText is `1 to 3, name`: the groups that a replacement can name.
func (p *pattern) groupText() string {
	if len(p.names) == 1 {
		return "the pattern has no groups"
	}
	named := slices.DeleteFunc(slices.Clone(p.names), func(s string) bool { return s == "" })
	return strings.Join(append([]string{fmt.Sprintf("the pattern has groups 1 to %d", len(p.names)-1)}, named...), ", ")
}
