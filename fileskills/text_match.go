package fileskills

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// swap is one exact replacement, as a caller asks for it.
type swap struct {
	old, new string
	all      bool
}

// maxPlaces is how many line numbers an error lists.
const maxPlaces = 10

// swaps plans exact replacements, each matched against the text as it is. One
// that is not for all places must match one; none may overlap. label names the
// argument of a swap in errors.
func (t *text) swaps(ctx context.Context, all []swap, label func(i int) string) ([]edit, error) {
	type owned struct {
		edit
		by int
	}
	var edits []owned
	for i, s := range all {
		found, err := t.swap(ctx, s, label(i))
		if err != nil {
			return nil, err
		}
		if len(edits)+len(found) > maxReplacements {
			return nil, errTooMany(label(i) + "old_string")
		}
		for _, e := range found {
			edits = append(edits, owned{e, i})
		}
	}
	slices.SortStableFunc(edits, func(a, b owned) int { return cmp.Compare(a.start, b.start) })
	out := make([]edit, len(edits))
	for i, e := range edits {
		out[i] = e.edit
		if i == 0 || edits[i-1].end <= e.start {
			continue
		}
		return nil, fail(CodeOverlappingEdits, "", "%s and %s change the same text (lines %d and %d). Nothing was changed.",
			strings.TrimSuffix(label(edits[i-1].by), "."), strings.TrimSuffix(label(e.by), "."),
			lineAt(t.lf, edits[i-1].start), lineAt(t.lf, e.start)).
			hint("Every edit is matched against the file as it is, not as the edits before it leave it. Join these two into one.")
	}
	return out, nil
}

// swap plans one replacement.
func (t *text) swap(ctx context.Context, s swap, label string) ([]edit, error) {
	old, new := lineFeeds(s.old), lineFeeds(s.new)
	switch {
	case old == "":
		return nil, fail(CodeInvalidArgument, "", "%sold_string is empty. Nothing was changed.", label).
			hint("Give the text to replace; append_file adds at the end, write_file makes a new file.")
	case old == new:
		return nil, fail(CodeNoChange, "", "%sold_string and %snew_string are the same. Nothing was changed.", label, label)
	case strings.Contains(new, "\x00"):
		return nil, errNUL(label + "new_string")
	}
	limit := maxReplacements + 1
	places, err := findAll(ctx, t.lf, []byte(old), limit)
	switch {
	case err != nil:
		return nil, err
	case len(places) == 0:
		return nil, t.noMatch(ctx, old, label+"old_string", false)
	case len(places) == limit && s.all:
		return nil, errTooMany(label + "old_string")
	case s.all:
		edits := make([]edit, len(places))
		for i, at := range places {
			edits[i] = edit{at, at + len(old), new}
		}
		return edits, nil
	}
	if len(places) == 1 { // places that overlap are two places all the same
		if again := bytes.Index(t.lf[places[0]+1:min(len(t.lf), places[0]+2*len(old))], []byte(old)); again >= 0 {
			places = append(places, places[0]+1+again)
		}
	}
	if len(places) > 1 {
		e := fail(CodeMultipleMatches, "", "%sold_string matches %s. Add surrounding lines or set replace_all=true. Nothing was changed.",
			label, placesText(t.lf, places))
		e.Data = map[string]any{"lines": linesOf(t.lf, places), "matches": len(places)}
		return nil, e
	}
	return []edit{{places[0], places[0] + len(old), new}}, nil
}

// findAll is where needle stands in text, without overlaps, at most limit.
func findAll(ctx context.Context, text, needle []byte, limit int) ([]int, error) {
	var found []int
	for from := 0; len(found) < limit; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		end := min(len(text), from+stride+len(needle)-1)
		at := bytes.Index(text[from:end], needle)
		switch {
		case at >= 0:
			found = append(found, from+at)
			from += at + len(needle)
		case end == len(text):
			return found, nil
		default:
			from = end - len(needle) + 1
		}
	}
	return found, nil
}

// placesText is `4 places (lines 4, 18, 40)`; a line of several is named once.
func placesText(lf []byte, places []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d places (line", len(places))
	lines := linesOf(lf, places)
	if len(lines) > 1 {
		b.WriteByte('s')
	}
	for i, line := range lines {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte(' ')
		b.WriteString(strconv.Itoa(line))
	}
	if more := len(places) - maxPlaces; more > 0 {
		fmt.Fprintf(&b, " and %d more places", more)
	}
	return b.String() + ")"
}

// linesOf are the line numbers of the first places, in order.
func linesOf(lf []byte, places []int) []int {
	var lines []int
	line, from := 1, 0
	for _, at := range places[:min(len(places), maxPlaces)] {
		line += bytes.Count(lf[from:at], []byte{'\n'})
		from = at
		if len(lines) == 0 || lines[len(lines)-1] != line {
			lines = append(lines, line)
		}
	}
	return lines
}

// lineFeeds is s with LF for each CRLF, as edits see text.
func lineFeeds(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func errTooMany(what string) error {
	return fail(CodeTooManyMatches, "", "%s matches more than %d places, the limit of one call. Nothing was changed.", what, maxReplacements)
}

func errNUL(what string) error {
	return fail(CodeInvalidArgument, "", "%s holds a NUL character, which would make the file binary. Nothing was changed.", what)
}
