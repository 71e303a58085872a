package leftlog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Flag is --fail-on-left: the kinds that a run must not leave.
type Flag struct{ Kinds []leftover.Kind }

func (f *Flag) String() string {
	var words []string
	for _, k := range f.Kinds {
		words = append(words, string(k))
	}
	return strings.Join(words, ",")
}

// Type is how the value is called in the help.
func (f *Flag) Type() string { return "KIND,..." }

// Set reads kinds, or "all".
func (f *Flag) Set(text string) error {
	known := leftover.Kinds()
	for word := range strings.SplitSeq(text, ",") {
		kind := leftover.Kind(word)
		switch {
		case word == "all":
			f.Kinds = known
		case slices.Contains(known, kind):
			if !slices.Contains(f.Kinds, kind) {
				f.Kinds = append(f.Kinds, kind)
			}
		default:
			var words []string
			for _, k := range known {
				words = append(words, string(k))
			}
			if like := didyoumean.Word(word, words); like != "" {
				return fmt.Errorf("%q is no kind of what is left: did you mean %s?", word, like)
			}
			return fmt.Errorf("%q is no kind of what is left: all, or some of %s", word, strings.Join(words, ", "))
		}
	}
	return nil
}

// Fails reports whether a run that left this counts as failed. What was not remembered
// may be of any kind, so it counts.
func (f *Flag) Fails(left leftover.Left) bool {
	return len(f.Kinds) > 0 && (left.Omitted > 0 ||
		slices.ContainsFunc(left.Items, func(i leftover.Item) bool { return slices.Contains(f.Kinds, i.Kind) }))
}

// Tell prints the first of what was left, and how to see all.
func Tell(o *cli.Output, root string, left leftover.Left, saved string) {
	if len(left.Items) == 0 && left.Omitted == 0 {
		return
	}
	o.Stderr.Printf("pinfold: %s left that can act later\n", cli.Plural(len(left.Items), "thing"))
	shown := min(len(left.Items), cli.SummaryLines)
	width := 0
	for _, i := range left.Items[:shown] {
		width = min(max(width, len(leftName(root, i.Path))), 40)
	}
	for _, i := range left.Items[:shown] {
		o.Stderr.Printf("  %-*s  %s\n", width, leftName(root, i.Path), o.Stderr.Paint(cli.ColourDim, leftText(i)))
	}
	if more := len(left.Items) - shown; more > 0 && saved != "" {
		o.Stderr.Printf("  and %d more; 'pinfold left %s' lists all\n", more, saved)
	} else if more > 0 {
		o.Stderr.Printf("  and %d more\n", more)
	}
	if left.Omitted > 0 {
		o.Stderr.Printf("  %s\n", omittedText(left.Omitted))
	}
}

// omittedText says how much is not told: there was no room for it, or it lies where
// it cannot be looked at.
func omittedText(n uint64) string {
	return "and " + cli.Plural(int(min(n, 1<<31-1)), "change") + " that could not be remembered or looked at"
}

// leftName is a path as the operator would type it.
func leftName(root, path string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(root, "/")+"/"); ok {
		path = rest
	}
	return pathresolver.EscapePath(path)
}

// leftText says what an item is.
func leftText(i leftover.Item) string {
	esc := pathresolver.EscapePath
	switch i.Kind {
	case leftover.Link:
		return "link that leads out of the write paths, to " + esc(i.Leads)
	case leftover.FIFO:
		return "FIFO: a program that opens it waits"
	case leftover.Socket:
		return "socket"
	case leftover.ByItself:
		return esc(strings.TrimSpace(i.Program + " " + i.Detail))
	case leftover.Repository:
		return esc(strings.TrimSuffix("git repository; "+i.Detail, "; "))
	case leftover.Operation:
		return esc(i.Detail)
	case leftover.Later:
		return esc(fmt.Sprintf("%s runs what it says, on %s", i.Program, i.When))
	case leftover.Packages:
		return "packages, which builds and tests run and no diff shows"
	case leftover.Executable:
		return "executable"
	}
	return string(i.Kind)
}

// Escaped is an item in which nothing is left that a terminal obeys.
func Escaped(i leftover.Item) leftover.Item {
	esc := pathresolver.EscapePath
	i.Path, i.Leads, i.Detail = esc(i.Path), esc(i.Leads), esc(i.Detail)
	return i
}

// Keep remembers what the run of this id left, for 'pinfold left'; one without gets a name.
// The name is "" where nothing was left or nothing can be kept.
func Keep(o *cli.Output, id string, r *pathresolver.Resolver, command []string, left leftover.Left) string {
	if len(left.Items) == 0 && left.Omitted == 0 {
		return ""
	}
	name, err := saveLeft(Record{Run: id, Root: r.Root(), Command: cli.CommandText(command), Ended: cli.TimeText(time.Now()), Items: left.Items, Omitted: left.Omitted})
	if err != nil && !errors.Is(err, errNoState) && o.Stderr.Terminal {
		o.Warning("what was left is not remembered: " + err.Error())
	}
	return name
}
