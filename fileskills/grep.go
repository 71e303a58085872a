package fileskills

import (
	"context"
	"strings"
	"time"
)

type grepIn struct {
	Pattern        string   `json:"pattern" jsonschema:"RE2 regular expression"`
	Path           readPath `json:"path,omitzero" default:"."`
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
	run.report = func() {
		n := run.searched.Load()
		g.progress(Progress{Done: n, Text: countOf(int(n), "file", "files") + " searched"})
	}
	w.each = run.report
	if g.listener() != nil {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		run.tick = tick.C
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
