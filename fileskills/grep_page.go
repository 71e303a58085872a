package fileskills

import (
	"fmt"
	"strconv"
	"strings"
)

// page puts on the page what of a file belongs there. lines reads the matches
// that are shown.
func (g *grepSearch) page(place string, s scanned, lines func(scanWant) (scanned, error)) (more bool, err error) {
	switch {
	case s.tooLarge:
		g.skipped.tooLarge++
		return true, nil
	case s.binary:
		g.skipped.binary++ // what it has before its first NUL counts
	default:
		g.files++
	}
	if s.matches == 0 {
		return true, nil
	}
	g.with++
	g.matches += s.matches
	if g.in.Output != "content" {
		return g.fileLine(place, s.matches), nil
	}
	skip := min(max(g.in.Offset-g.passed, 0), s.matches)
	g.passed += skip
	take := min(s.matches-skip, g.in.MaxMatches-g.shown)
	if take > 0 {
		got, err := lines(scanWant{skip: skip, take: take, context: g.in.Context, stop: skip + take})
		if err != nil {
			return false, err
		}
		take = g.lines(shown(place), got.hits, skip)
	}
	g.shown += take
	g.more = g.more || skip+take < s.matches
	return !g.more, nil
}

// fileLine is one line of the outputs that are about files.
func (g *grepSearch) fileLine(place string, matches int) (more bool) {
	switch {
	case g.passed < g.in.Offset:
		g.passed++
		return true
	case g.shown == g.in.MaxMatches || g.text.Len() > maxText:
		g.more = true
		return false
	}
	g.shown++
	g.text.WriteString(shown(place))
	if g.in.Output == "count" {
		g.text.WriteString(":" + strconv.Itoa(matches))
	}
	g.text.WriteByte('\n')
	return true
}

// lines writes the lines of a file, as grep does, after skip matches of it. It
// returns how many matches found room.
func (g *grepSearch) lines(place string, hits []hit, skip int) (matches int) {
	last := 0
	for i, h := range hits {
		if h.no > skip+matches {
			if g.text.Len() > maxText {
				return matches
			}
			matches++
		}
		if g.in.Context > 0 && h.line != last+1 && (i > 0 || g.text.Len() > 0) {
			g.text.WriteString("--\n")
		}
		last = h.line
		mark := "-"
		if h.no > 0 {
			mark = ":"
		}
		g.text.WriteString(place + mark + strconv.Itoa(h.line) + mark + h.text + "\n")
	}
	return matches
}

// includeMatchesNothing reports whether nothing was searched because include
// names no file. Directories that were left out may hold one.
func (g *grepSearch) includeMatchesNothing() bool {
	left := g.skipped
	left.ignoredDirs = 0
	return g.in.Include != "" && g.files == 0 && left == skipped{}
}

// result says what there is beyond the page, and what was not searched.
func (g *grepSearch) result(place string) *Result {
	res := &Result{Meta: Meta{Path: place}}
	note := g.skipped.note("searched")
	switch {
	case g.more:
		next := g.in.Offset + g.shown
		res.Meta.Truncated, res.Meta.NextOffset = true, &next
		what := "matches"
		if g.in.Output != "content" {
			what = "files"
		}
		fmt.Fprintf(&g.text, "[%s %d-%d; more follow: continue with offset=%d]\n", what, g.in.Offset+1, next, next)
	case g.matches == 0:
		g.text.WriteString("0 matches")
		if g.includeMatchesNothing() {
			fmt.Fprintf(&g.text, ": include %s names no file in %s", shown(g.in.Include), shown(place))
			if strings.Contains(g.in.Include, "/") {
				g.text.WriteString("; it is relative to path")
			}
		}
		if note != "" {
			g.text.WriteString(" " + note)
		}
		res.Meta.Total, note = &g.matches, ""
	default:
		total := g.matches
		if g.in.Output == "content" {
			fmt.Fprintf(&g.text, "[%s in %s]\n", countOf(g.matches, "match", "matches"), countOf(g.with, "file", "files"))
		} else {
			total = g.with
			fmt.Fprintf(&g.text, "[%s]\n", countOf(g.with, "file", "files"))
		}
		res.Meta.Total = &total
	}
	if note != "" {
		g.text.WriteString(note + "\n")
	}
	res.Text = strings.TrimSuffix(g.text.String(), "\n")
	return res
}
