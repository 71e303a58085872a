package fileskills

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

type listDirectoryIn struct {
	Path       listPath `json:"path,omitzero" default:"."`
	All        bool     `json:"all,omitzero" jsonschema:"also dot files"`
	Long       bool     `json:"long,omitzero" jsonschema:"with mode, size, time"`
	MaxResults int      `json:"max_results,omitzero" default:"1000" min:"1" max:"10000"`
	Offset     int      `json:"offset,omitzero" min:"0" max:"10000000" jsonschema:"how many to pass over"`
}

var listDirectory = define(spec[listDirectoryIn]{
	name:        "list_directory",
	description: "Lists a directory: directories end in /, links show their target.",
	idempotent:  true,
	act: func(ctx context.Context, c *call, in *listDirectoryIn) (*Result, error) {
		return promptly(ctx, func() (*Result, error) { return c.listDirectory(ctx, in) })
	},
})

func (c *call) listDirectory(ctx context.Context, in *listDirectoryIn) (*Result, error) {
	d, err := c.fs.OpenDir(string(in.Path))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir()
	if err != nil {
		return nil, err
	}
	dotted := 0
	if !in.All {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
			dot := strings.HasPrefix(e.Name(), ".")
			if dot {
				dotted++
			}
			return dot
		})
	}
	total := len(entries)
	if in.Offset > 0 && in.Offset >= total {
		return nil, fail(CodeInvalidArgument, string(in.Path), "offset %d is beyond the end: %s has %s.",
			in.Offset, shown(string(in.Path)), countOf(total, "entry", "entries"))
	}
	entries = smallest(entries, in.Offset+in.MaxResults, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })[in.Offset:]
	var text strings.Builder
	count := 0
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if text.Len() > maxText {
			break
		}
		count++
		if in.Long {
			text.WriteString(longColumns(e))
		}
		text.WriteString(shown(e.Name()))
		switch {
		case e.IsDir():
			text.WriteByte('/')
		case e.Type()&fs.ModeSymlink != 0:
			text.WriteString(" -> " + c.linkText(d, e.Name()))
		case !e.Type().IsRegular():
			text.WriteString(" (" + kindOf(e.Type()) + ")")
		}
		text.WriteByte('\n')
	}
	meta := Meta{Path: d.Place(), Total: &total}
	switch end := in.Offset + count; {
	case end < total:
		meta.Truncated, meta.NextOffset = true, &end
		fmt.Fprintf(&text, "[entries %d-%d of %d, by name; continue with offset=%d]\n", in.Offset+1, end, total, end)
	case in.Offset > 0:
		fmt.Fprintf(&text, "[entries %d-%d of %d; end of the list]\n", in.Offset+1, end, total)
	case total == 0:
		text.WriteString("[empty]\n")
	}
	if dotted > 0 {
		fmt.Fprintf(&text, "(%s not shown; all=true)\n", countOf(dotted, "name that begins with a dot", "names that begin with a dot"))
	}
	return &Result{Text: strings.TrimSuffix(text.String(), "\n"), Meta: meta}, nil
}

// smallest returns the n smallest, sorted, without sorting all.
func smallest[E any](all []E, n int, order func(a, b E) int) []E {
	for len(all) > 4*n && len(all) > 1000 {
		// Drop what lies above a pivot near the n-th, while enough is left.
		sample := make([]E, 0, 256)
		for i := 0; i < len(all); i += len(all)/256 + 1 {
			sample = append(sample, all[i])
		}
		slices.SortFunc(sample, order)
		pivot := sample[min(len(sample)-1, 2*n*len(sample)/len(all)+2)]
		kept := make([]E, 0, 3*n)
		for _, e := range all {
			if order(e, pivot) <= 0 {
				kept = append(kept, e)
			}
		}
		if len(kept) < n || len(kept) == len(all) {
			break
		}
		all = kept
	}
	slices.SortFunc(all, order)
	return all[:min(n, len(all))]
}

// longColumns are mode, size and time, or question marks for what has gone.
func longColumns(e fs.DirEntry) string {
	info, err := e.Info()
	if err != nil {
		return fmt.Sprintf("%-10s %10s %-16s ", "?", "?", "?")
	}
	return fmt.Sprintf("%s %10d %s ", info.Mode(), info.Size(), info.ModTime().UTC().Format("2006-01-02T15:04"))
}

// linkText is where a link leads, if that is inside. The very text that is
// shown is what is asked about, so that no link can show a place outside.
func (c *call) linkText(d Dir, name string) string {
	const outside = "(outside)"
	text, err := d.Readlink(name)
	if err != nil {
		return "(unreadable)"
	}
	target := text
	if !path.IsAbs(text) {
		target = joinRel(d.Place(), text)
	}
	if c.denies(access.FSList, target) != nil {
		return outside
	}
	switch _, err := c.fs.Stat(target); {
	case err == nil:
		return shown(text)
	case errors.Is(err, fs.ErrNotExist):
		return shown(text) + " (missing)"
	}
	return outside
}

// kindOf names a type of file.
func kindOf(t fs.FileMode) string {
	return cmp.Or(map[fs.FileMode]string{
		0: "file", fs.ModeDir: "directory", fs.ModeSymlink: "link",
		fs.ModeNamedPipe: "FIFO", fs.ModeSocket: "socket",
		fs.ModeDevice: "device", fs.ModeDevice | fs.ModeCharDevice: "device",
	}[t.Type()], "special file")
}

// rfc3339 is a time for a result.
func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
