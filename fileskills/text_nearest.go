package fileskills

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The bounds of the search for text that nearly matches: it is a help in an
// error and must not cost much more than the edit would. The whole file is gone
// through, once for what is told apart line by line.
const (
	nearLine    = 400 // bytes of a line that are compared
	nearLines   = 40  // lines of old_string that are compared, to find the place
	nearShown   = 12  // lines that are shown
	nearBefore  = 3   // of them, before the first that differs
	nearEnough  = 0.5 // likeness from which something is worth showing
	nearTries   = 8   // candidates that are compared in full
	prefixShare = 2   // one line in so many must carry a number
)

// numbered is a line as tools print it, with its number in front.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *[0-9]+ ?(?:\t|→|\| ?|: ?)`) })

// noMatch is the error of text that was not found. It shows what comes nearest.
// It never makes anything match: nothing is edited on a guess. With whole, lines
// had to match from end to end.
func (t *text) noMatch(ctx context.Context, old, what string, whole bool) error {
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
	want := wanted{
		lines:     strings.Split(strings.TrimSuffix(old, "\n"), "\n"),
		fromWhole: whole, toWhole: whole || strings.HasSuffix(old, "\n"),
	}
	near := want.nearest(ctx, string(lf))
	if near == nil && len(want.lines) == 1 {
		if p := nearestTypo(ctx, lf, want.lines[0]); p != nil {
			e.Data = map[string]any{"nearest_line": p.line}
			return e.hint("%s", p.describe(want.lines[0]))
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case near == nil:
		return e.hint("Nothing in the file resembles it. Read the file again and copy the text as it stands there.")
	}
	e.Hint = near.describe(&want)
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

// wanted is what was looked for, by lines. The first may begin within a line of
// the file, and the last end within one, unless they have to be whole.
type wanted struct {
	lines              []string
	fromWhole, toWhole bool
}

// matches reports whether a line of the file has what is wanted as line i.
func (w *wanted) matches(i int, line string) bool {
	from := i > 0 || w.fromWhole
	to := i < len(w.lines)-1 || w.toWhole
	switch {
	case from && to:
		return line == w.lines[i]
	case from:
		return strings.HasPrefix(line, w.lines[i])
	case to:
		return strings.HasSuffix(line, w.lines[i])
	}
	return strings.Contains(line, w.lines[i])
}

// part is what of a line of the file is compared with line i: of a long one only
// the end that counts.
func (w *wanted) part(i int, line string) string {
	most := len(w.lines[i]) + len(w.lines[i])/2 + 1
	switch {
	case len(w.lines) == 1 || len(line) <= most:
	case i == 0 && !w.fromWhole:
		return line[len(line)-most:]
	case i == len(w.lines)-1 && !w.toWhole:
		return line[:most]
	}
	return line
}

// near is a place in the file that resembles what was looked for.
type near struct {
	line  int // from 1
	at    int // where the line begins
	lines []string
	score float64
}

// nearest finds the place whose lines resemble the wanted ones most: first by
// the most telling line, then in full. nil when nothing does, or ctx has ended.
func (w *wanted) nearest(ctx context.Context, lf string) *near {
	want := w.lines[:min(len(w.lines), nearLines)]
	anchor := 0
	for i, line := range want {
		if len(strings.TrimSpace(line)) > len(strings.TrimSpace(want[anchor])) {
			anchor = i
		}
	}
	like := newLikeness(want[anchor])
	var best []near
	number := 0
	for at := 0; at < len(lf); {
		line := lineFrom(lf, at)
		if number++; number%(1<<14) == 0 && ctx.Err() != nil {
			return nil
		}
		n := near{line: number, at: at, score: like.score(w.part(anchor, line))}
		at += len(line) + 1
		if n.score < nearEnough/2 {
			continue
		}
		to := len(best)
		for to > 0 && best[to-1].score < n.score {
			to--
		}
		if to < nearTries {
			best = slices.Insert(best, to, n)
			best = best[:min(len(best), nearTries)]
		}
	}
	scorers := make([]*likeness, len(want))
	for i, line := range want {
		scorers[i] = newLikeness(line)
	}
	var found *near
	for _, n := range best {
		for range min(anchor, n.line-1) { // up to the first of the wanted lines
			n.at = strings.LastIndexByte(lf[:n.at-1], '\n') + 1
			n.line--
		}
		n.lines, n.score = linesFrom(lf, n.at, len(want)), 0
		for i, line := range n.lines {
			n.score += scorers[i].score(w.part(i, line)) / float64(len(want))
		}
		if n.score >= nearEnough && (found == nil || n.score > found.score) {
			found = &n
		}
	}
	if found != nil { // what was not compared to find it may be what differs
		found.lines = linesFrom(lf, found.at, len(w.lines))
	}
	return found
}

// lineFrom is the line that begins at an offset, without its line feed.
func lineFrom(lf string, at int) string {
	line, _, _ := strings.Cut(lf[at:], "\n")
	return line
}

// linesFrom are at most n lines from an offset on.
func linesFrom(lf string, at, n int) []string {
	lines := make([]string, 0, min(n, nearLines))
	for len(lines) < n && at < len(lf) {
		line := lineFrom(lf, at)
		lines = append(lines, line)
		at += len(line) + 1
	}
	return lines
}

// describe shows the place, and where it first differs from what was wanted.
func (n *near) describe(want *wanted) string {
	differs := 0
	for differs < len(n.lines) && want.matches(differs, n.lines[differs]) {
		differs++
	}
	from := 0
	if differs >= nearShown {
		from = differs - nearBefore
	}
	to := min(len(n.lines), from+nearShown)
	var b strings.Builder
	fmt.Fprintf(&b, "Nearest text, from line %d (· is a space, → a tab):\n", n.line+from)
	for _, line := range n.lines[from:to] {
		b.WriteString(visible(line) + "\n")
	}
	if more := len(n.lines) - to; more > 0 {
		fmt.Fprintf(&b, "[%d lines more]\n", more)
	}
	switch {
	case differs < len(n.lines):
		line, wants := n.lines[differs], want.lines[differs]
		fmt.Fprintf(&b, "Line %d differs", n.line+differs)
		if d := difference(line, wants, want.begins(differs, line)); d != "" {
			b.WriteString(" " + d)
		}
		fmt.Fprintf(&b, "; what was looked for is:\n%s", visible(wants))
	case differs < len(want.lines):
		fmt.Fprintf(&b, "The file ends with line %d; what was looked for goes on with:\n%s", n.line+differs-1, visible(want.lines[differs]))
	default: // which a text that was not found cannot be
		b.WriteString("These lines are the same; the text around them differs.")
	}
	return b.String()
}

// begins is where in a line of the file the text of line i seems to begin: at 0,
// but for a first line that may begin within.
func (w *wanted) begins(i int, line string) (best int) {
	want := w.lines[i]
	if i > 0 || w.fromWhole || len(line) > 8*nearLine || len(want) > nearLine {
		return 0
	}
	most, off := -1, 0 // how much is the same, and by how much the rest is longer or shorter
	for at := range len(line) {
		n := commonPrefix(line[at:], want)
		n += commonSuffix(line[at+n:], want[n:])
		longer := max(len(line)-at-len(want), len(want)-len(line)+at)
		if utf8.RuneStart(line[at]) && (n > most || n == most && longer < off) {
			best, most, off = at, n, longer
		}
	}
	return best
}

// difference names the first characters that differ, of a line from a place on.
func difference(line, want string, from int) string {
	have := line[from:]
	n := commonPrefix(have, want)
	for n > 0 && (n < len(have) && !utf8.RuneStart(have[n]) || n < len(want) && !utf8.RuneStart(want[n])) {
		n--
	}
	h, _ := utf8.DecodeRuneInString(have[n:])
	w, _ := utf8.DecodeRuneInString(want[n:])
	switch col := utf8.RuneCountInString(line[:from+n]) + 1; {
	case n == len(have):
		return fmt.Sprintf("at its end, where %s was looked for", runeName(w))
	case n == len(want):
		return fmt.Sprintf("in column %d: it goes on with %s", col, runeName(h))
	default:
		return fmt.Sprintf("in column %d: %s, where %s was looked for", col, runeName(h), runeName(w))
	}
}

func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
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
