package fileskills

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The bounds of the search for text that nearly matches: it is a help in an
// error and must not cost more than the edit would.
const (
	nearBytes   = 2 << 20 // of the file, from its start
	nearLine    = 400     // bytes of a line that are compared
	nearLines   = 40      // lines of old_string that are compared
	nearShown   = 12      // lines that are shown
	nearEnough  = 0.5     // likeness from which something is worth showing
	nearTries   = 8       // candidates that are compared in full
	prefixShare = 2       // one line in so many must carry a number
)

// numbered is a line as tools print it, with its number in front.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *[0-9]+ ?(?:\t|→|\| ?|: ?)`) })

// noMatch is the error of text that was not found. It shows what comes nearest.
// It never makes anything match: nothing is edited on a guess.
func (t *text) noMatch(old, what string) error {
	lf := t.lf
	e := fail(CodeNoMatch, "", "%s was not found in %s. Nothing was changed.", what, t.name)
	if plain, ok := withoutNumbers(old); ok {
		e.Hint = what + " carries line numbers, which are not part of the file. Give the text without them."
		if at := bytes.Index(lf, []byte(plain)); at >= 0 {
			e.Hint += fmt.Sprintf(" Without them it matches line %d.", lineAt(lf, at))
		}
		return e
	}
	if n := strings.TrimRight(old, "\n"); n != "" && bytes.HasSuffix(lf, []byte(n)) {
		e.Hint = "The file ends with this text, but without the line feed at the end of " + what + "."
		return e
	}
	lines := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	near := nearestText(lf, lines)
	if near == nil {
		if p := nearestTypo(lf, lines[0]); p != nil && len(lines) == 1 {
			e.Data = map[string]any{"nearest_line": p.line}
			return e.hint("%s", p.describe(lines[0]))
		}
		where := "the file"
		if len(lf) > nearBytes {
			where = fmt.Sprintf("its first %d MiB", nearBytes>>20)
		}
		return e.hint("Nothing in %s resembles it. Read the file again and copy the text as it stands there.", where)
	}
	e.Hint = near.describe(lines)
	e.Data = map[string]any{"nearest_line": near.line}
	return e
}

// withoutNumbers removes the numbers in front of lines, if enough have one.
func withoutNumbers(s string) (string, bool) {
	lines := strings.Split(s, "\n")
	n, filled := 0, 0
	for i, line := range lines {
		if line != "" {
			filled++
		}
		if p := numbered().FindString(line); p != "" {
			lines[i] = line[len(p):]
			n++
		}
	}
	return strings.Join(lines, "\n"), n > 0 && n*prefixShare >= filled
}

// near is a place in the file that resembles what was looked for.
type near struct {
	line  int // from 1
	lines []string
	score float64
}

// nearestText finds the place whose lines resemble the given ones most: first by
// the most telling line, then in full. nil when nothing does.
func nearestText(lf []byte, want []string) *near {
	want = want[:min(len(want), nearLines)]
	anchor := 0
	for i, line := range want {
		if len(strings.TrimSpace(line)) > len(strings.TrimSpace(want[anchor])) {
			anchor = i
		}
	}
	have := strings.Split(string(lf[:min(len(lf), nearBytes)]), "\n")
	like := newLikeness(want[anchor])
	var best []near
	for i, line := range have {
		n := near{line: i + 1, score: like.score(line)}
		if n.score < nearEnough/2 {
			continue
		}
		at := len(best)
		for at > 0 && best[at-1].score < n.score {
			at--
		}
		if at < nearTries {
			best = append(best[:at], append([]near{n}, best[at:]...)...)
			best = best[:min(len(best), nearTries)]
		}
	}
	scorers := make([]*likeness, len(want))
	for i, line := range want {
		scorers[i] = newLikeness(line)
	}
	var found *near
	for _, n := range best {
		from := max(0, n.line-1-anchor)
		n.line, n.lines, n.score = from+1, have[from:min(len(have), from+len(want))], 0
		for i, line := range n.lines {
			n.score += scorers[i].score(line) / float64(len(want))
		}
		if n.score >= nearEnough && (found == nil || n.score > found.score) {
			found = &n
		}
	}
	return found
}

// describe shows the place, and where it first differs from what was wanted.
func (n *near) describe(want []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Nearest text, from line %d (· is a space, → a tab):\n", n.line)
	for i, line := range n.lines {
		if i == nearShown {
			fmt.Fprintf(&b, "[%d lines more]\n", len(n.lines)-i)
			break
		}
		b.WriteString(visible(line) + "\n")
	}
	for i, line := range n.lines {
		if i >= len(want) || line == want[i] {
			continue
		}
		fmt.Fprintf(&b, "Line %d differs", n.line+i)
		if d := difference(line, want[i]); d != "" {
			b.WriteString(" " + d)
		}
		fmt.Fprintf(&b, "; what was looked for is:\n%s", visible(want[i]))
		return b.String()
	}
	return b.String() + "These lines are the same; the text around them differs, or stands further down than was compared."
}

// difference names the first characters that differ.
func difference(have, want string) string {
	n := 0
	for n < len(have) && n < len(want) && have[n] == want[n] {
		n++
	}
	for n > 0 && (n < len(have) && !utf8.RuneStart(have[n]) || n < len(want) && !utf8.RuneStart(want[n])) {
		n--
	}
	h, _ := utf8.DecodeRuneInString(have[n:])
	w, _ := utf8.DecodeRuneInString(want[n:])
	switch col := utf8.RuneCountInString(have[:n]) + 1; {
	case n == len(have):
		return fmt.Sprintf("at its end, where %s was looked for", runeName(w))
	case n == len(want):
		return fmt.Sprintf("in column %d: it goes on with %s", col, runeName(h))
	default:
		return fmt.Sprintf("in column %d: %s, where %s was looked for", col, runeName(h), runeName(w))
	}
}

func runeName(r rune) string {
	switch {
	case r == ' ':
		return "a space"
	case r == '\t':
		return "a tab"
	case r < utf8.RuneSelf && unicode.IsPrint(r):
		return fmt.Sprintf("%q", r)
	case unicode.IsPrint(r):
		return fmt.Sprintf("%q (U+%04X)", r, r)
	}
	return fmt.Sprintf("U+%04X", r)
}

// visible shows a line with its white space.
func visible(line string) string {
	var b strings.Builder
	for i, r := range line {
		switch {
		case i >= nearLine:
			return b.String() + "…"
		case r == ' ':
			b.WriteRune('·')
		case r == '\t':
			b.WriteRune('→')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "\\u{%x}", r)
		}
	}
	return b.String()
}

// likeness compares lines with one line: by their pairs of bytes, white space
// and letter case aside.
type likeness struct {
	pairs [1 << 12]int16 // how often a pair occurs, by hash
	total int
}

func newLikeness(line string) *likeness {
	l := &likeness{}
	eachPair(line, func(hash int) {
		l.pairs[hash]++
		l.total++
	})
	return l
}

// score is from 0, nothing in common, to 1.
func (l *likeness) score(line string) float64 {
	total, common := 0, 0
	eachPair(line, func(hash int) {
		total++
		l.pairs[hash]--
		if l.pairs[hash] >= 0 {
			common++
		}
	})
	eachPair(line, func(hash int) { l.pairs[hash]++ })
	if total+l.total == 0 {
		return 1
	}
	return 2 * float64(common) / float64(total+l.total)
}

func eachPair(line string, f func(hash int)) {
	last := -1
	pair := func(c int) {
		if last >= 0 {
			f((last*67 + c) & (1<<12 - 1))
		}
		last = c
	}
	for i := range min(len(line), nearLine) {
		c := line[i]
		if c == ' ' || c == '\t' || c == '\r' {
			continue
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		pair(int(c))
	}
	pair(0) // so that a line of one character has a pair, too
}
