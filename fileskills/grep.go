package fileskills

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

type grepIn struct {
	Pattern        string   `json:"pattern" jsonschema:"RE2 regular expression"`
	Path           ReadPath `json:"path,omitzero" default:"."`
	Include        string   `json:"include,omitzero" jsonschema:"glob of files: *.go, src/**/*.{ts,tsx}"`
	IgnoreCase     bool     `json:"ignore_case,omitzero"`
	Literal        bool     `json:"literal,omitzero" jsonschema:"pattern is plain text"`
	Multiline      bool     `json:"multiline,omitzero" jsonschema:"matches may span lines"`
	Context        int      `json:"context,omitzero" min:"0" max:"20" jsonschema:"lines around each match"`
	Output         string   `json:"output,omitzero" default:"content" enum:"content,files,count"`
	IncludeIgnored bool     `json:"include_ignored,omitzero"`
	MaxMatches     int      `json:"max_matches,omitzero" default:"100" min:"1" max:"1000" jsonschema:"or files, for the other outputs"`
	Offset         int      `json:"offset,omitzero" min:"0" max:"10000000" jsonschema:"how many to pass over"`
}

var grepFiles = define(spec[grepIn]{
	name:        "grep",
	description: "Searches files by line, sorted by path. Honours .gitignore, leaves out binary files and links.",
	idempotent:  true,
	act:         actGrep,
})

// grepSearch is one call of grep.
type grepSearch struct {
	*call
	in      *grepIn
	pattern *linePattern
	text    strings.Builder
	skipped skipped
	files   int // searched
	with    int // of them, that have a match
	matches int
	passed  int  // matches, or files, before the page
	shown   int  // on the page
	more    bool // follow the page
}

func actGrep(ctx context.Context, c *call, in *grepIn) (*Result, error) {
	g := &grepSearch{call: c, in: in}
	var err error
	if g.pattern, err = newLinePattern(in.Pattern, grepFlags{in.Literal, in.IgnoreCase, in.Multiline}); err != nil {
		return nil, err
	}
	include := "**"
	if in.Include != "" {
		include = in.Include
	}
	want, err := c.searchGlob("include", include, newNameGlob)
	if err != nil {
		return nil, err
	}
	f, err := c.fs.Open(string(in.Path))
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		if err != nil {
			f.Close()
			return nil, err
		}
		return g.one(ctx, f)
	}
	f.Close()
	return g.tree(ctx, want)
}

// one searches the file that the caller named. It closes f.
func (g *grepSearch) one(ctx context.Context, f File) (*Result, error) {
	place := f.Place()
	s, err := promptly(ctx, func() (scanned, error) {
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return scanned{}, err
		}
		want := scanWant{named: true}
		switch g.in.Output {
		case "files":
			want.stop = 1
		case "content":
			want.skip, want.take, want.context = g.in.Offset, g.in.MaxMatches, g.in.Context
			if info.Size() > maxScanFile {
				want.stop = g.in.Offset + g.in.MaxMatches + 1
			}
		}
		return (&scanner{pattern: g.pattern}).run(ctx, f, want)
	})
	switch {
	case err != nil:
		return nil, err
	case s.tooLarge:
		return nil, fail(CodeTooLarge, string(g.in.Path), "%s is too large for a search over line ends; at most %s.", shown(place), byteSize(maxScanWhole)).
			hint("Search it by lines, without multiline.")
	}
	if _, err := g.page(place, s, func(scanWant) (scanned, error) { return s, nil }); err != nil {
		return nil, err
	}
	return g.result(place), nil
}

// tree searches what lies beneath the directory that the caller named.
func (g *grepSearch) tree(ctx context.Context, want globSet) (*Result, error) {
	w, rules, err := g.newWalk(string(g.in.Path), g.in.IncludeIgnored)
	if err != nil {
		return nil, err
	}
	defer w.close(ctx)
	run := &grepRun{walk: w, pattern: g.pattern}
	w.want = want
	w.each = func() {
		g.progress(Progress{Done: int64(g.files), Text: countOf(g.files, "file", "files") + " searched"})
	}
	switch g.in.Output {
	case "content":
		run.want.stop = g.in.Offset + g.in.MaxMatches + 1
	case "files":
		run.want.stop = 1
	}
	again := &scanner{pattern: g.pattern}
	run.take = func(rel string, s scanned, err error) (bool, error) {
		if err != nil {
			g.skipped.unreadable++
			return true, nil
		}
		return g.page(w.place(rel), s, func(want scanWant) (scanned, error) {
			w.using.Add(1)
			return promptly(ctx, func() (scanned, error) {
				defer w.using.Done()
				return again.file(ctx, w.top, rel, want)
			})
		})
	}
	if err := run.run(ctx, rules); err != nil {
		return nil, err
	}
	g.skipped.add(w.skipped)
	return g.result(w.top.Place()), nil
}

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
