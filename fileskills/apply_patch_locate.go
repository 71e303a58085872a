package fileskills

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// maxAnchors is how many lines an @@ line may match.
const maxAnchors = 100

// span is a part of a text's LF view: the offsets at which a line begins that
// is looked for, both ends included.
type span struct{ from, to int }

// hunks plans the hunks of an update. Each applies where exactly one place
// fits: its lines, whole and in order, behind the hunk before. An @@ line
// narrows where: to what stands below it, and if possible to its block, which
// is what is indented deeper. Where more than one place fits, none is changed.
func (t *text) hunks(ctx context.Context, all []hunk) ([]edit, error) {
	var edits []edit
	from := 0
	for i, h := range all {
		e, next, err := t.hunk(ctx, h, from, fmt.Sprintf("hunk %d (patch line %d)", i+1, h.line))
		if err != nil {
			return nil, err
		}
		if len(edits) > 0 { // a last line that goes takes the line feed before it along
			e.start = max(e.start, edits[len(edits)-1].end)
		}
		edits = append(edits, e)
		from = next
	}
	return edits, nil
}

// hunk plans one, whose place is at from or behind. next is where the place of
// the next may be.
func (t *text) hunk(ctx context.Context, h hunk, from int, name string) (e edit, next int, err error) {
	scopes := []span{{from, len(t.lf)}}
	for _, anchor := range h.anchors {
		if scopes, err = t.narrowTo(ctx, scopes, anchor, name); err != nil {
			return edit{}, 0, err
		}
	}
	if len(h.old) == 0 {
		return t.insertion(h, scopes, name)
	}
	block := []byte(strings.Join(h.old, "\n"))
	var found []int
	for {
		for _, s := range scopes {
			more, err := t.findLines(ctx, block, s, maxPlaces+1)
			if err != nil {
				return edit{}, 0, err
			}
			found = append(found, more...)
		}
		wide := span{scopes[0].from, len(t.lf)}
		if len(found) > 0 || len(scopes) == 1 && scopes[0] == wide {
			break
		}
		scopes = []span{wide} // beyond the block
	}
	if h.atEnd {
		var last []int
		for _, at := range found {
			if rest := t.lf[at+len(block):]; len(rest) == 0 || string(rest) == "\n" {
				last = []int{at}
			}
		}
		if at := len(bytes.TrimSuffix(t.lf, []byte{'\n'})) - len(block); last == nil && len(found) > maxPlaces && at >= from {
			last, err = t.findLines(ctx, block, span{at, len(t.lf)}, 1)
			if err != nil {
				return edit{}, 0, err
			}
		}
		if last == nil && found != nil {
			return edit{}, 0, fail(CodeNoMatch, "", "%s does not end %s: its lines are at %s. Nothing was changed.", name, t.name, placesText(t.lf, found))
		}
		found = last
	}
	switch len(found) {
	case 0:
		return edit{}, 0, t.hunkNotFound(ctx, string(block), from, name)
	case 1:
		e := t.replaceLines(found[0], len(block), h)
		return e, min(found[0]+len(block)+1, len(t.lf)), nil
	}
	err = fail(CodeMultipleMatches, "", "%s matches %s of %s. Nothing was changed.", name, atLeast(t.lf, found), t.name).
		hint("Add context lines, or an @@ line that names what it is in.")
	return edit{}, 0, err
}

// atLeast is placesText of a search that was broken off.
func atLeast(lf []byte, places []int) string {
	if len(places) > maxPlaces {
		return "more than " + placesText(lf, places[:maxPlaces])
	}
	return placesText(lf, places)
}

// narrowTo are the blocks below the lines that an @@ line names.
func (t *text) narrowTo(ctx context.Context, scopes []span, anchor, name string) ([]span, error) {
	for {
		var exact, alike []span
		for _, s := range scopes {
			err := t.eachLine(ctx, s, func(at, end int) bool {
				line := string(t.lf[at:end])
				switch {
				case line == anchor:
					exact = append(exact, span{at, end})
				case strings.TrimSpace(line) == strings.TrimSpace(anchor):
					alike = append(alike, span{at, end})
				}
				return len(exact)+len(alike) <= maxAnchors
			})
			if err != nil {
				return nil, err
			}
		}
		if len(exact) == 0 {
			exact = alike
		}
		wide := span{scopes[0].from, len(t.lf)}
		switch {
		case len(exact) > maxAnchors:
			return nil, fail(CodeMultipleMatches, "", "%s: %q is the text of more than %d lines of %s. Nothing was changed.", name, "@@ "+clip(anchor, 80), maxAnchors, t.name)
		case len(exact) > 0:
			blocks := make([]span, len(exact))
			for i, line := range exact {
				to, err := t.blockEnd(ctx, line)
				if err != nil {
					return nil, err
				}
				blocks[i] = span{min(line.to+1, len(t.lf)), to}
			}
			return blocks, nil
		case len(scopes) == 1 && scopes[0] == wide:
			e := fail(CodeNoMatch, "", "%s: no line of %s is %q. Nothing was changed.", name, t.name, "@@ "+clip(anchor, 80))
			if strings.HasPrefix(anchor, "-") {
				return nil, e.hint("This format has no line numbers: behind @@ stands a line of the file, such as the head of a function.")
			}
			return nil, e.hint("Behind @@ stands a whole line of the file, further down than the hunk before.")
		}
		scopes = []span{wide}
	}
}

// blockEnd is where the first line below the given one begins that is not
// indented deeper, empty lines aside.
func (t *text) blockEnd(ctx context.Context, head span) (int, error) {
	depth := indent(t.lf[head.from:head.to])
	end := len(t.lf)
	err := t.eachLine(ctx, span{head.to + 1, len(t.lf)}, func(at, to int) bool {
		if len(bytes.TrimSpace(t.lf[at:to])) > 0 && indent(t.lf[at:to]) <= depth {
			end = at
		}
		return end == len(t.lf)
	})
	return end, err
}

// indent is the number of spaces and tabs in front of a line.
func indent(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t")) }

// eachLine calls f with begin and end, without line feed, of every line that
// begins in s, until f is false.
func (t *text) eachLine(ctx context.Context, s span, f func(at, end int) bool) error {
	for n, at := 0, s.from; at < len(t.lf) && at <= s.to; n++ {
		if n%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		end := len(t.lf)
		if i := bytes.IndexByte(t.lf[at:], '\n'); i >= 0 {
			end = at + i
		}
		if !f(at, end) {
			return nil
		}
		at = end + 1
	}
	return nil
}

// findLines is where whole lines are block, beginning in s, at a line's start.
// Places may overlap. At most limit are returned.
func (t *text) findLines(ctx context.Context, block []byte, s span, limit int) ([]int, error) {
	var found []int
	keep := func(at int) {
		end := at + len(block)
		lastLine := at + bytes.LastIndexByte(block, '\n') + 1
		if at <= s.to && end <= len(t.lf) && lastLine < len(t.lf) && (end == len(t.lf) || t.lf[end] == '\n') {
			found = append(found, at)
		}
	}
	if s.from == 0 && bytes.HasPrefix(t.lf, block) {
		keep(0)
	}
	needle := append([]byte{'\n'}, block...)
	for from := max(s.from-1, 0); len(found) < limit && from <= s.to; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		end := min(len(t.lf), from+stride+len(needle)-1)
		at := bytes.Index(t.lf[from:end], needle)
		switch {
		case at >= 0:
			keep(from + at + 1)
			from += at + 1
		case end == len(t.lf):
			return found, nil
		default:
			from = end - len(needle) + 1
		}
	}
	return found, nil
}

// replaceLines is the edit of a hunk whose old lines are lf[at:at+size].
func (t *text) replaceLines(at, size int, h hunk) edit {
	e := edit{at, at + size, strings.Join(h.new, "\n")}
	switch {
	case len(h.new) > 0:
	case e.end < len(t.lf):
		e.end++
	case e.start > 0:
		e.start-- // the file keeps ending without a line feed
	}
	return e
}

// insertion is the edit of a hunk that has new lines only: below its @@ line, or
// at the end of the file.
func (t *text) insertion(h hunk, scopes []span, name string) (edit, int, error) {
	lines := strings.Join(h.new, "\n")
	at := len(t.lf)
	switch {
	case h.atEnd, len(t.lf) == 0, len(h.anchors) == 0:
	case len(scopes) > 1:
		places := make([]int, len(scopes))
		for i, s := range scopes {
			places[i] = max(s.from-1, 0)
		}
		return edit{}, 0, fail(CodeMultipleMatches, "", "%s: the @@ line matches %s of %s. Nothing was changed.", name, placesText(t.lf, places), t.name)
	default:
		at = scopes[0].from
	}
	if at > 0 && t.lf[at-1] != '\n' {
		return edit{at, at, "\n" + lines}, at, nil
	}
	return edit{at, at, lines + "\n"}, at, nil
}

// hunkNotFound says what comes nearest, or that the order is wrong.
func (t *text) hunkNotFound(ctx context.Context, block string, from int, name string) error {
	before, err := t.findLines(ctx, []byte(block), span{0, from - 1}, 1)
	if err != nil {
		return err
	}
	if len(before) > 0 && from > 0 {
		return fail(CodeNoMatch, "", "%s: its lines are in line %d of %s, above the hunk before. Nothing was changed.", name, lineAt(t.lf, before[0]), t.name).
			hint("Hunks stand in the order of the file.")
	}
	return t.noMatch(ctx, block, "the text of "+name, true)
}
