package fileskills

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// linePattern finds the lines that match an expression. Most files hold none:
// what every match must contain is looked for first, which costs a fraction of
// running the expression.
type linePattern struct {
	re        *regexp.Regexp // nil: a line matches that holds one of needles
	needles   [][]byte       // one of them is in every match; none: not known
	fold      bool           // needles are lower-case ASCII, for a lower-case text
	multiline bool           // matches may run over line ends
	weight    int            // of re, as weigh says
}

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
	p := &linePattern{multiline: f.multiline, weight: weigh(tree)}
	if p.weight > maxWeight {
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
