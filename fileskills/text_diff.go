package fileskills

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	diffContext  = 3
	maxDiffBytes = 8 << 10
	maxDiffLine  = 1000
	// maxAligned bounds the regions in which lines that stayed are looked for
	// between lines that changed. In a larger one all between the first and the
	// last changed line counts as changed.
	maxAligned = 512 << 10
)

// UnifiedDiff is the diff of two contents, with 3 lines of context, cut at about
// most bytes, as results have it; added and removed are lines of the whole. cut says
// that text does not hold all: its last line, or the line that was cut, says so. nil
// before is a file that is not there. Its time is linear in the contents. Control
// characters in them are as they are: whoever shows the text escapes it.
func UnifiedDiff(name string, before, after []byte, most int) (text string, added, removed int, cut bool) {
	d := newDiffer(before, most)
	d.addAll(narrow(before, edit{0, len(before), string(after)}))
	text, added, removed = d.result(name)
	if before == nil && text != "" {
		_, hunks, _ := strings.Cut(text, "\n")
		text = "--- /dev/null\n" + hunks
	}
	return text, added, removed, d.cut || d.clipped
}

// diffTexts is the unified diff of two contents, with 3 lines of context, cut
// at 8 KiB, and how many lines it adds and removes in all. Its time is linear
// in the contents.
func diffTexts(name string, before, after []byte) (diff string, added, removed int) {
	d := newDiffer(before, maxDiffBytes)
	d.addAll(narrow(before, edit{0, len(before), string(after)}))
	return d.result(name)
}

// diffEdits is diffTexts where the changes are known: sorted, not overlapping.
func diffEdits(name string, lf []byte, edits []edit) (diff string, added, removed int) {
	d := newDiffer(lf, maxDiffBytes)
	for len(edits) > 0 {
		var whole edit
		whole, edits = wholeLines(lf, edits)
		d.addAll(narrow(lf, whole))
	}
	return d.result(name)
}

// quoteName keeps a hostile file name from forging lines of a diff.
func quoteName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return strings.Trim(fmt.Sprintf("%q", name), `"`)
	}
	return name
}

// wholeLines takes the first edits, as long as no whole line lies between one
// and the next, as one edit of whole lines.
func wholeLines(lf []byte, edits []edit) (edit, []edit) {
	start := bytes.LastIndexByte(lf[:edits[0].start], '\n') + 1
	var b strings.Builder
	at := start
	for {
		e := edits[0]
		b.Write(lf[at:e.start])
		b.WriteString(e.new)
		at, edits = e.end, edits[1:]
		if len(edits) == 0 || bytes.Count(lf[at:edits[0].start], []byte{'\n'}) > 1 {
			break
		}
	}
	end := at
	// A line that lost its ending to the edit, or has text left, is part of it.
	if wholeEnd := end == start || lf[end-1] == '\n'; !wholeEnd || b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
		if n := bytes.IndexByte(lf[end:], '\n'); n >= 0 {
			end += n + 1
		} else {
			end = len(lf)
		}
		b.Write(lf[at:end])
	}
	return edit{start, end, b.String()}, edits
}

// narrowAll is narrow of every edit.
func narrowAll(lf []byte, edits []edit) []edit {
	out := make([]edit, 0, len(edits))
	for _, e := range edits {
		out = append(out, narrow(lf, e)...)
	}
	return out
}

// narrow splits an edit so that lines which it leaves as they are lie between
// its parts, not in them.
func narrow(lf []byte, e edit) []edit {
	old := lf[e.start:e.end]
	if string(old) == e.new {
		return nil
	}
	if bytes.IndexByte(old, '\n') < 0 || e.new == "" {
		return []edit{e}
	}
	head := commonLines(old, e.new)
	e.start, old, e.new = e.start+head, old[head:], e.new[head:]
	tail := commonTail(old, e.new)
	e.end, old, e.new = e.end-tail, old[:len(old)-tail], e.new[:len(e.new)-tail]
	oneEach := bytes.IndexByte(old, '\n') >= len(old)-1 && strings.IndexByte(e.new, '\n') >= len(e.new)-1
	if oneEach || len(old) == 0 || e.new == "" || len(old)+len(e.new) > maxAligned {
		return []edit{e}
	}
	var out []edit
	for _, part := range udiff.Lines(string(old), e.new) {
		out = append(out, edit{e.start + part.Start, e.start + part.End, part.New})
	}
	return out
}

// commonLines is the length of the whole lines that both begin with.
func commonLines(a []byte, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// commonTail is the length of the whole lines that both end with.
func commonTail(a []byte, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	// The first of them is whole where a line feed, or nothing, precedes it in both.
	for ; n > 0; n-- {
		i, j := len(a)-n, len(b)-n
		if (i == 0 || a[i-1] == '\n') && (j == 0 || b[j-1] == '\n') {
			return n
		}
	}
	return 0
}

// differ writes hunks of edits that come in order.
type differ struct {
	lf             []byte
	text           strings.Builder
	hunk           strings.Builder
	oldLen, newLen int // lines of hunk
	oldAt, newAt   int // its first lines
	at             int // offset in lf behind what was written or passed
	line, shown    int // line number at at, in the old and in the new text
	added, removed int
	open, cut      bool
	clipped        bool // a line was cut
	most           int  // bytes
}

func newDiffer(lf []byte, most int) differ { return differ{lf: lf, line: 1, shown: 1, most: most} }

func (d *differ) addAll(edits []edit) {
	for _, e := range edits {
		d.add(e)
	}
}

func (d *differ) add(e edit) {
	gap := bytes.Count(d.lf[d.at:e.start], []byte{'\n'})
	if d.open && gap > 2*diffContext {
		d.context(diffContext, e.start)
		d.flush()
		gap = bytes.Count(d.lf[d.at:e.start], []byte{'\n'})
	}
	if !d.open {
		d.open = true
		from := e.start
		for range min(gap, diffContext) {
			from = bytes.LastIndexByte(d.lf[d.at:from-1], '\n') + 1 + d.at
		}
		skip := max(0, gap-diffContext)
		d.at, d.line, d.shown = from, d.line+skip, d.shown+skip
		d.oldAt, d.newAt = d.line, d.shown
	}
	d.context(gap, e.start)
	for rest := d.lf[e.start:e.end]; len(rest) > 0; {
		rest = d.write('-', rest)
		d.removed, d.line, d.oldLen = d.removed+1, d.line+1, d.oldLen+1
	}
	for rest := e.new; rest != ""; {
		line, _, _ := strings.Cut(rest, "\n")
		line = rest[:min(len(rest), len(line)+1)]
		rest = rest[len(line):]
		d.write('+', []byte(line))
		d.added, d.shown, d.newLen = d.added+1, d.shown+1, d.newLen+1
	}
	d.at = e.end
}

// context writes up to n lines before limit that stay.
func (d *differ) context(n, limit int) {
	for ; n > 0 && d.at < limit; n-- {
		rest := d.write(' ', d.lf[d.at:])
		d.at = len(d.lf) - len(rest)
		d.line, d.oldLen = d.line+1, d.oldLen+1
		d.shown, d.newLen = d.shown+1, d.newLen+1
	}
}

// write writes the first line of text, and returns what follows it.
func (d *differ) write(sign byte, text []byte) []byte {
	line, rest, ended := bytes.Cut(text, []byte{'\n'})
	if d.cut || d.text.Len()+d.hunk.Len() > d.most {
		d.cut = true
		return rest
	}
	d.hunk.WriteByte(sign)
	if len(line) > maxDiffLine {
		d.clipped = true
		fmt.Fprintf(&d.hunk, "%s… [%d bytes more]", bytes.ToValidUTF8(line[:maxDiffLine], nil), len(line)-maxDiffLine)
	} else {
		d.hunk.Write(line)
	}
	d.hunk.WriteByte('\n')
	if !ended {
		d.hunk.WriteString("\\ No newline at end of file\n")
	}
	return rest
}

// flush ends the hunk. In one that was cut the counts are those of the whole.
func (d *differ) flush() {
	if d.hunk.Len() > 0 {
		fmt.Fprintf(&d.text, "@@ -%s +%s @@\n%s", hunkRange(d.oldAt, d.oldLen), hunkRange(d.newAt, d.newLen), d.hunk.String())
	}
	d.hunk.Reset()
	d.open, d.oldLen, d.newLen = false, 0, 0
}

func hunkRange(line, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", line-1) // behind that line
	case 1:
		return strconv.Itoa(line)
	}
	return fmt.Sprintf("%d,%d", line, n)
}

// result ends the diff.
func (d *differ) result(name string) (diff string, added, removed int) {
	if !d.open {
		return "", 0, 0
	}
	d.context(diffContext, len(d.lf))
	d.flush()
	if d.cut {
		fmt.Fprintf(&d.text, "[diff cut; in all %d lines added, %d removed]\n", d.added, d.removed)
	}
	name = quoteName(name)
	return "--- a/" + name + "\n+++ b/" + name + "\n" + d.text.String(), d.added, d.removed
}
