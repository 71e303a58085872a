package fileskills

import (
	"bytes"
	"context"
	"strings"
)

const (
	// maxEditBytes is the largest file that is edited, before and after. An
	// edit holds a small multiple of it.
	maxEditBytes = 64 << 20
	// maxReplacements is how many places one call changes at most.
	maxReplacements = 1 << 20
)

// text is a file's text, twice: as it is, and as edits see it, where every
// line ends with a line feed. A lone carriage return is a character like any.
type text struct {
	name  string // for messages
	enc   encoding
	src   []byte // UTF-8 without byte order mark, line endings as they are
	lf    []byte // src with each CRLF as LF; the same memory when there is none
	mixed bool   // some lines end with CRLF, others with LF
}

// edit replaces lf[start:end] of a text. Its line feeds become what the lines
// around end with.
type edit struct {
	start, end int
	new        string
}

// readText decodes raw, which the text then owns.
func readText(ctx context.Context, name string, raw []byte) (*text, error) {
	enc, src, err := decodeText(ctx, name, raw)
	if err != nil {
		return nil, err
	}
	t := &text{name: name, enc: enc, src: src, lf: src}
	first, err := findAll(ctx, src, []byte("\r\n"), 1)
	if err != nil || first == nil {
		return t, err
	}
	t.lf = make([]byte, 0, len(src))
	for rest, n := src, 0; len(rest) > 0; n++ {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line := rest
		if at := bytes.IndexByte(rest, '\n'); at >= 0 {
			line = rest[:at+1]
		}
		rest = rest[len(line):]
		if body, ok := bytes.CutSuffix(line, []byte("\r\n")); ok {
			t.lf = append(append(t.lf, body...), '\n')
		} else {
			t.lf = append(t.lf, line...)
			t.mixed = t.mixed || line[len(line)-1] == '\n'
		}
	}
	return t, nil
}

// apply returns the file's new bytes. The edits are sorted and do not overlap.
// Every byte outside them comes from the old file as it was; in a file of mixed
// endings also every line inside them that stays as it was.
func (t *text) apply(ctx context.Context, edits []edit) ([]byte, error) {
	size := len(t.src)
	for _, e := range edits {
		size += len(e.new) - (e.end - e.start)
		if size > maxEditBytes {
			return nil, errTooLarge(t.name, "would become larger")
		}
	}
	if t.mixed {
		edits = narrowAll(t.lf, edits)
	}
	b := builder{ctx: ctx, name: t.name, out: make([]byte, 0, size+size/16)}
	done := 0
	at := cursor{text: t, next: -1}
	for n, e := range edits {
		if n%(1<<12) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		from, err := at.to(ctx, e.start)
		if err != nil {
			return nil, err
		}
		endings := at.endings(e)
		b.add(t.src[done:from])
		for i := 0; ; i++ {
			line, rest, more := strings.Cut(e.new, "\n")
			b.out = append(b.out, line...)
			if !more {
				break
			}
			b.out = append(b.out, endings[min(i, len(endings)-1)]...)
			e.new = rest
		}
		if done, err = at.to(ctx, e.end); err != nil {
			return nil, err
		}
	}
	b.add(t.src[done:])
	if b.err == nil && len(b.out) > maxEditBytes {
		b.err = errTooLarge(t.name, "would become larger")
	}
	if b.err != nil {
		return nil, b.err
	}
	return encodeText(ctx, t.enc, b.out)
}

// builder is a growing text that may not grow too large.
type builder struct {
	ctx  context.Context
	name string
	out  []byte
	err  error
}

func (b *builder) add(text []byte) {
	for len(text) > 0 && b.err == nil {
		part := text[:min(len(text), stride)]
		b.out = append(b.out, part...)
		text = text[len(part):]
		if b.err = b.ctx.Err(); b.err == nil && len(b.out) > maxEditBytes {
			b.err = errTooLarge(b.name, "would become larger")
		}
	}
}

// cursor maps offsets of lf to offsets of src, forwards only.
type cursor struct {
	*text
	inLF, inSrc int
	next        int      // a line feed of lf, or its end; none lies between an edit and it
	before      []string // what the line before ends with, where it was asked for
}

// to moves to an offset of lf, not before the last one, and returns that of src.
func (c *cursor) to(ctx context.Context, lf int) (int, error) {
	if len(c.lf) == len(c.src) {
		c.inSrc += lf - c.inLF
		c.inLF = lf
	}
	for lines := 0; c.inLF < lf; lines++ {
		n := bytes.IndexByte(c.lf[c.inLF:lf], '\n')
		if n < 0 {
			c.inSrc += lf - c.inLF
			c.inLF = lf
			break
		}
		c.inSrc += n + len(c.ending(c.inSrc+n))
		c.inLF += n + 1
		if lines%(1<<16) == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return c.inSrc, nil
}

// ending is the line ending at an offset of src where there is one.
func (t *text) ending(src int) string {
	if t.src[src] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// endings are what the lines of the edit's new text end with: what the lines
// that it replaces end with, in their order, the last one repeated; else what
// the line ends with in which it stands; else the line before. There is at
// least one. The cursor stands at e.start, and stays.
func (c *cursor) endings(e edit) []string {
	if !c.mixed {
		if len(c.lf) == len(c.src) {
			return []string{"\n"}
		}
		return []string{"\r\n"}
	}
	if !strings.Contains(e.new, "\n") {
		return nil
	}
	ahead := *c
	var found []string
	for {
		n := bytes.IndexByte(c.lf[ahead.inLF:e.end], '\n')
		if n < 0 {
			break
		}
		end := c.ending(ahead.inSrc + n)
		found = append(found, end)
		ahead.inLF, ahead.inSrc = ahead.inLF+n+1, ahead.inSrc+n+len(end)
	}
	if found != nil {
		return found
	}
	if c.next < e.end { // looked up once for all edits of a line
		c.next = len(c.lf)
		if n := bytes.IndexByte(c.lf[e.end:], '\n'); n >= 0 {
			c.next = e.end + n
		}
	}
	inserted := e.start == e.end && e.start > 0 && c.lf[e.start-1] == '\n'
	if !inserted && c.next < len(c.lf) {
		// No line feed lies between here and there: as many bytes in both.
		return []string{c.ending(ahead.inSrc + c.next - ahead.inLF)}
	}
	// The line before: between lines, and in a last line without ending.
	if c.before == nil || inserted {
		n := bytes.LastIndexByte(c.src[:c.inSrc], '\n')
		c.before = []string{c.ending(max(n-1, 0))}
	}
	return c.before
}

// lineAt is the number, from 1, of the line that offset at of lf is in.
func lineAt(lf []byte, at int) int { return bytes.Count(lf[:at], []byte{'\n'}) + 1 }

func errTooLarge(name, what string) error {
	return fail(CodeTooLarge, "", "%s %s than %d MiB, the limit of an edit. Nothing was changed.", name, what, maxEditBytes>>20)
}
