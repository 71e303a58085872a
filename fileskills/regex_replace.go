package fileskills

import (
	"context"
	"strings"
)

type regexReplaceIn struct {
	Path        editPath `json:"path" jsonschema:"file"`
	Pattern     string   `json:"pattern" jsonschema:"RE2"`
	Replacement string   `json:"replacement" jsonschema:"\\1 and \\g<name> are groups, \\\\ is a backslash"`
	Count       int      `json:"count,omitzero" min:"0" jsonschema:"at most; 0 is all"`
	IgnoreCase  bool     `json:"ignore_case,omitzero"`
	Multiline   bool     `json:"multiline,omitzero" jsonschema:"^ and $ at every line"`
	DotAll      bool     `json:"dotall,omitzero" jsonschema:". matches line feeds"`
	DryRun      bool     `json:"dry_run,omitzero" jsonschema:"only the diff"`
}

var regexReplace = define(spec[regexReplaceIn]{
	name:        "regex_replace",
	description: "Replaces all matches of a regular expression (RE2: no look-around) in a file.",
	destructive: true,
	act: func(ctx context.Context, c *call, in *regexReplaceIn) (*Result, error) {
		p, err := compilePattern(in.Pattern, in.IgnoreCase, in.Multiline, in.DotAll)
		if err != nil {
			return nil, err
		}
		t, err := p.template(in.Replacement)
		if err != nil {
			return nil, err
		}
		return c.changeText(ctx, textChange{
			path: in.Path, dryRun: in.DryRun, note: p.note(in.Replacement),
			plan: func(on *text) ([]edit, error) { return on.substitute(ctx, p, t, in) },
		})
	},
})

// substitute plans the replacement of every match.
func (t *text) substitute(ctx context.Context, p *pattern, by template, in *regexReplaceIn) ([]edit, error) {
	var edits []edit
	size := len(t.lf)
	err := p.matches(ctx, t.name, t.lf, in.Count, func(m match) error {
		if size += by.size(m) - (m[1] - m[0]); size > maxEditBytes {
			return errTooLarge(t.name, "would become larger")
		}
		edits = append(edits, edit{m[0], m[1], by.expand(t.lf, m)})
		return nil
	})
	if err == nil && len(edits) == 0 {
		e := fail(CodeNoMatch, "", "pattern matches nothing in %s. Nothing was changed.", t.name)
		switch {
		case strings.Contains(in.Pattern, `\r`):
			return nil, e.hint(`Lines are seen as they end with \n, whatever they end with: leave out \r. The endings are kept.`)
		case !in.Multiline && strings.ContainsAny(in.Pattern, "^$"):
			return nil, e.hint("^ and $ match only at the ends of the file unless multiline=true.")
		case !in.DotAll && strings.Contains(in.Pattern, "."):
			return nil, e.hint(". does not match line feeds unless dotall=true.")
		}
		return nil, e
	}
	return edits, err
}
