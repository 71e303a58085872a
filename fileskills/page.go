package fileskills

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// The bounds on what one result shows, and on how far a file is read on only to
// tell how many lines it has.
const (
	maxText    = 64 << 10 // bytes
	maxLine    = 2000     // bytes of one line
	maxCount   = 64 << 20 // bytes
	maxEndless = 16 << 20 // bytes; a longer line ends the page
)

// page is some lines of a text.
type page struct {
	text    strings.Builder
	start   int  // the first line shown, from 1
	end     int  // the last; start-1 when there is none
	total   int  // lines there are; -1 when they were not counted
	more    bool // lines follow
	escaped bool // bytes are shown that are not UTF-8
}

// pager cuts a page out of a stream, in bounded memory.
type pager struct {
	offset, limit int  // the first line, from 1, and how many
	numbers       bool // put each line's number before it

	page
	line   []byte // the line that is being read, up to maxLine
	length int    // all of its bytes so far
	at     int    // its number
}

var pageBuffers = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// read goes through r until the page is full, and on until the lines are
// counted or maxCount bytes have passed.
func (p *pager) read(ctx context.Context, r io.Reader) (*page, error) {
	buf := pageBuffers.Get().(*[256 << 10]byte)
	defer pageBuffers.Put(buf)
	p.at, p.start, p.end = 1, p.offset, p.offset-1
	full := false
	begun := false // the line at p.at has a byte
	var beyond int64
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := r.Read(buf[:])
		chunk := buf[:n]
		if len(chunk) > 0 && p.at < p.offset {
			var passed int
			chunk, passed = skipLines(chunk, p.offset-p.at)
			p.at += passed
			begun = len(chunk) == 0 && buf[n-1] != '\n'
		}
		for len(chunk) > 0 && !full {
			piece, rest, ended := cutLine(chunk)
			p.take(piece)
			begun = true
			if p.length > maxEndless {
				p.flush()
				p.more, p.total = true, -1
				return &p.page, nil
			}
			if ended {
				if full = !p.flush(); full {
					break
				}
				begun = false
			}
			chunk = rest
		}
		if full && len(chunk) > 0 {
			p.more = true
			p.at += bytes.Count(chunk, newline)
			begun = chunk[len(chunk)-1] != '\n'
			if beyond += int64(n); beyond > maxCount {
				p.total = -1
				return &p.page, nil
			}
		}
		switch {
		case err == io.EOF:
			if begun && !full && p.at >= p.offset {
				full = !p.flush()
				begun = full
				p.more = p.more || full
			}
			if p.total = p.at - 1; begun {
				p.total++
			}
			return &p.page, nil
		case err != nil:
			return nil, err
		}
	}
}

var newline = []byte{'\n'}

// cutLine cuts a chunk at its first line end.
func cutLine(chunk []byte) (piece, rest []byte, ended bool) {
	if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
		return chunk[:i], chunk[i+1:], true
	}
	return chunk, nil, false
}

// skipLines drops up to n lines, and says how many line ends it met.
func skipLines(chunk []byte, n int) (rest []byte, passed int) {
	const block = 4096
	for len(chunk) > 0 && passed < n {
		part := chunk[:min(block, len(chunk))]
		if c := bytes.Count(part, newline); passed+c < n {
			passed += c
			chunk = chunk[len(part):]
			continue
		}
		for passed < n {
			chunk = chunk[bytes.IndexByte(chunk, '\n')+1:]
			passed++
		}
	}
	return chunk, passed
}

// take adds to the line that is being read.
func (p *pager) take(piece []byte) {
	p.length += len(piece)
	// One byte more than is shown, so that a "\r" at the end is seen.
	p.line = append(p.line, piece[:min(len(piece), maxLine+utf8.UTFMax-len(p.line))]...)
}

// flush puts the line that was read on the page. It reports false, and keeps
// the line off, when the page is full.
func (p *pager) flush() (ok bool) {
	line, dropped := p.line, 0
	if p.length == len(line) && p.length > 0 && line[p.length-1] == '\r' {
		line = line[:p.length-1]
		p.length--
	}
	if p.length > maxLine {
		line = clipBytes(line, maxLine)
		dropped = p.length - len(line)
	}
	shown := p.end - p.start + 1
	if shown == p.limit || shown > 0 && p.text.Len()+len(line)+16 > maxText {
		p.line, p.length = p.line[:0], 0
		return false
	}
	if p.numbers {
		var digits [20]byte
		number := strconv.AppendInt(digits[:0], int64(p.at), 10)
		for range 6 - len(number) {
			p.text.WriteByte(' ')
		}
		p.text.Write(number)
		p.text.WriteByte('\t')
	}
	p.escaped = writeText(&p.text, line) || p.escaped
	if p.length > maxEndless {
		p.text.WriteString("… [this line goes on for more than 16 MiB, and was not read to its end]")
	} else if dropped > 0 {
		fmt.Fprintf(&p.text, "… [%d more bytes of this line]", dropped)
	}
	p.line, p.length = p.line[:0], 0
	p.text.WriteByte('\n')
	p.end = p.at
	p.at++
	return true
}
