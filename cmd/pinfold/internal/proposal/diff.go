package proposal

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// difference puts what was written into p. Its error is for the note.
func (o *overlay) difference(p *brokerhttp.Proposal) error {
	var text strings.Builder
	for _, c := range o.changed {
		if c.old == nil && len(c.after) == 0 {
			p.Note = "'" + pathresolver.EscapePath(c.place) + "' would be made, without content"
			continue
		}
		if isBinary(c.old) || isBinary(c.after) {
			return errors.New("'" + c.place + "' is no text, or would not be")
		}
		diff, added, removed, cut := fileskills.UnifiedDiff(c.place, c.old, c.after, maxDiff)
		text.WriteString(diff)
		p.Added, p.Removed, p.Cut = p.Added+added, p.Removed+removed, p.Cut || cut
	}
	if text.Len() == 0 && p.Note == "" {
		return errors.New("as the files are now, the call would change nothing")
	}
	var cut bool
	p.Diff, cut = escaped(text.String())
	p.Cut = p.Cut || cut
	return nil
}

// isBinary reports whether content is not for reading, as git tells it.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// escaped is a difference fit for a terminal or a page: of what is not printed
// only line feeds and tabs are left. It is cut where escaping made it too long.
func escaped(diff string) (text string, cut bool) {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		parts := strings.Split(line, "\t")
		for i := range parts {
			parts[i] = pathresolver.EscapePath(parts[i])
		}
		line = strings.Join(parts, "\t")
		if b.Len()+len(line) > maxDiff+4096 {
			b.WriteString("[diff cut here]\n")
			return b.String(), true
		}
		b.WriteString(line + "\n")
	}
	return b.String(), false
}

// oneLine is a note: escaped, on one line, and cut.
func oneLine(text string) string {
	text = pathresolver.EscapePath(strings.Join(strings.Fields(text), " "))
	if len(text) <= maxNote {
		return text
	}
	end := maxNote
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
