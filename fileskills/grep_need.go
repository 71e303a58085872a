package fileskills

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// maxNeedles bounds the alternatives that are looked for one by one.
const maxNeedles = 8

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
