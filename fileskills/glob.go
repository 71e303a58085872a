package fileskills

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

type globIn struct {
	Pattern        string   `json:"pattern" jsonschema:"doublestar glob, relative to path: **/*.go, src/{a,b}/*.ts"`
	Path           listPath `json:"path,omitzero" default:"."`
	Kind           string   `json:"kind,omitzero" default:"file" enum:"file,directory,any"`
	Exclude        []string `json:"exclude,omitzero" jsonschema:"globs to leave out"`
	IncludeIgnored bool     `json:"include_ignored,omitzero"`
	MaxResults     int      `json:"max_results,omitzero" default:"100" min:"1" max:"10000"`
}

var globFiles = define(spec[globIn]{
	name:        "glob",
	description: "Finds files by name, sorted by path. Honours .gitignore and does not follow links.",
	idempotent:  true,
	act:         actGlob,
})

func actGlob(ctx context.Context, c *call, in *globIn) (*Result, error) {
	want, err := c.searchGlob("pattern", in.Pattern, newPathGlob)
	if err != nil {
		return nil, err
	}
	exclude, err := c.excludes(in.Exclude)
	if err != nil {
		return nil, err
	}
	w, rules, err := c.newWalk(string(in.Path), in.IncludeIgnored)
	if err != nil {
		return nil, err
	}
	defer w.close(ctx)
	w.want, w.exclude = want, exclude
	w.dirs, w.links = in.Kind != "file", true
	total, shownNow := 0, 0
	var text strings.Builder
	w.each = func() {
		c.progress(Progress{Done: int64(total), Text: countOf(total, "match", "matches")})
	}
	err = w.run(ctx, rules, func(dir, name string, typ fs.FileMode) (bool, error) {
		if in.Kind == "directory" && !typ.IsDir() {
			return true, nil
		}
		if total++; total <= in.MaxResults && text.Len() < maxText {
			text.WriteString(shown(w.place(joinRel(dir, name))))
			if typ.IsDir() {
				text.WriteByte('/')
			}
			text.WriteByte('\n')
			shownNow++
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if total == 0 {
		fmt.Fprintf(&text, "0 matches for %s in %s\n", shown(in.Pattern), shown(w.top.Place()))
		if !strings.Contains(in.Pattern, "/") {
			fmt.Fprintf(&text, "%s looks in the directory itself; **/%[1]s looks at any depth.\n", shown(in.Pattern))
		}
	}
	if shownNow < total {
		fmt.Fprintf(&text, "[%d of %d shown; narrow the pattern or raise max_results]\n", shownNow, total)
	}
	if note := w.skipped.note("shown"); note != "" {
		text.WriteString(note + "\n")
	}
	return &Result{
		Text: strings.TrimSuffix(text.String(), "\n"),
		Meta: Meta{Path: w.top.Place(), Total: &total, Truncated: shownNow < total},
	}, nil
}

// searchGlob reads the glob of an argument. One that begins outside of the
// search is refused in the words that a path would be.
func (c *call) searchGlob(argument, glob string, read func(string) (globSet, error)) (globSet, error) {
	if strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "../") || glob == ".." {
		base, _, _ := strings.Cut(glob, "*")
		if err := c.denies(access.FSList, base); err != nil {
			return nil, err
		}
		return nil, fail(CodeInvalidArgument, "", "%s is relative to path; %s is not.", argument, shown(glob)).
			hint("Put the directory into path.")
	}
	set, err := read(glob)
	if err != nil {
		return nil, fail(CodeInvalidArgument, "", "%s: %v.", argument, err)
	}
	return set, nil
}

// maxExcludes bounds how many globs one search leaves out.
const maxExcludes = 100

func (c *call) excludes(list []string) (globSet, error) {
	if len(list) > maxExcludes {
		return nil, fail(CodeInvalidArgument, "", "exclude takes at most %d globs.", maxExcludes)
	}
	var all globSet
	for _, g := range list {
		set, err := c.searchGlob("exclude", g, newNameGlob)
		if err != nil {
			return nil, err
		}
		all = append(all, set...)
	}
	return all, nil
}
