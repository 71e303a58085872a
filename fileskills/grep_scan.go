package fileskills

import (
	"bytes"
	"context"
	"io"
)

// The bounds on what a search holds and looks at, in bytes.
const (
	scanWindow    = 256 << 10 // of a file, at a time
	maxScanLine   = 16 << 20  // a longer line is searched in pieces
	maxScanFile   = 64 << 20  // a larger file is searched only when it is named
	maxScanWhole  = 8 << 20   // a larger file is not searched over line ends
	maxBefore     = 64 << 10  // of context before a match
	maxMatchLines = 100       // shown of one match over line ends
)

// scanner searches one file after the other. It belongs to one goroutine.
type scanner struct {
	pattern *linePattern
	buf     []byte
	low     []byte
}

// scanWant is what a scan is for. The zero value counts all matches.
type scanWant struct {
	skip, take int  // matches to pass over, and to collect after them
	context    int  // lines around each of those
	stop       int  // the scan may end after this many matches; 0: it may not
	named      bool // the caller named the file: it is searched whatever its size
}

// scanned is what a scan found.
type scanned struct {
	matches  int
	hits     []hit
	binary   bool // it has a NUL, and was searched up to there
	tooLarge bool // it was not searched
}

// hit is a line to show.
type hit struct {
	line int
	text string
	no   int // which match of the file it belongs to, from 1; 0: context
}

// scan is the state within one file.
type scan struct {
	*scanner
	scanWant
	scanned
	eof     bool
	have    int // bytes in buf
	at      int // where the unsearched part begins, at a line; before it is context
	counted int // buf up to here is counted in line
	line    int // the number of the line at counted
	emitted int // buf up to here was shown, or is not to be
	after   int // context lines still to show
}

// run searches what r gives. f is what r reads, for its size.
func (s *scanner) run(ctx context.Context, f File, want scanWant) (scanned, error) {
	if s.buf == nil {
		s.buf = make([]byte, scanWindow)
	}
	defer func() {
		if len(s.buf) > 4*scanWindow {
			s.buf, s.low = nil, nil
		}
	}()
	c := scan{scanner: s, scanWant: want, line: 1}
	r, err := c.begin(f)
	for err == nil && !c.binary && !c.tooLarge && !c.enough() {
		if err = ctx.Err(); err != nil {
			break
		}
		if end := c.window(); end > c.at || c.eof {
			end = c.unixLines(end)
			if err = c.search(ctx, end); err != nil || c.eof {
				break
			}
			c.slide(end)
		}
		err = c.fill(r)
	}
	return c.scanned, err
}

// enough reports that nothing more is wanted of this file.
func (c *scan) enough() bool { return c.stop > 0 && c.matches >= c.stop && c.after == 0 }

// begin reads the first window and looks what kind of file it is.
func (c *scan) begin(f File) (io.Reader, error) {
	var r io.Reader = f
	if err := c.fill(r); err != nil {
		return nil, err
	}
	head := c.buf[:min(c.have, binaryProbe)]
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		r, _ = textReader(bytes.Clone(c.buf[:c.have]), f)
		c.have, c.eof = 0, false
		if err := c.fill(r); err != nil {
			return nil, err
		}
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		c.have = copy(c.buf, c.buf[3:c.have])
	}
	if bytes.IndexByte(c.buf[:min(c.have, binaryProbe)], 0) >= 0 {
		c.binary, c.have = true, 0
	}
	if !c.eof && !c.named {
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		c.tooLarge = info.Size() > maxScanFile
	}
	return r, nil
}

// fill reads until the buffer is full or the file ends.
func (c *scan) fill(r io.Reader) error {
	for c.have < len(c.buf) && !c.eof {
		n, err := r.Read(c.buf[c.have:])
		c.have += n
		if err == io.EOF {
			c.eof = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// window is where the text that can be searched now ends: after a line. It
// makes room where the buffer holds no whole one.
func (c *scan) window() (end int) {
	if i := bytes.IndexByte(c.buf[c.at:c.have], 0); i >= 0 {
		c.binary, c.eof = true, true
		return max(bytes.LastIndexByte(c.buf[:c.at+i], '\n')+1, c.at)
	}
	if c.eof {
		return c.have
	}
	most := maxScanLine
	if c.pattern.multiline {
		most = maxScanWhole
	} else if i := bytes.LastIndexByte(c.buf[c.at:c.have], '\n'); i >= 0 {
		return c.at + i + 1
	}
	if c.have-c.at < most {
		c.buf = append(c.buf, make([]byte, len(c.buf))...)
		return c.at
	}
	if c.pattern.multiline {
		c.tooLarge = true
		return c.at
	}
	return c.have
}

// search goes through buf from at to end.
func (c *scan) search(ctx context.Context, end int) error {
	if end <= c.at {
		return nil
	}
	var f lineFinder
	f, c.low = c.pattern.finder(ctx, c.buf[c.at:end], c.low)
	for pos := 0; c.stop == 0 || c.matches < c.stop; {
		start, stop, from, to, ok := f.find(pos)
		if !ok {
			break
		}
		if to > stop { // of several lines
			_, stop = lineAround(f.text, max(to-1, stop))
		}
		c.matches++
		if c.take > 0 {
			c.show(c.at+start, c.at+stop, c.at+from)
		}
		pos = stop + 1
	}
	c.showAfter(end)
	c.at = end
	return f.err
}

// show collects a match, the lines from start to stop, and its context.
func (c *scan) show(start, stop, from int) {
	c.showAfter(start)
	if c.matches <= c.skip || c.matches > c.skip+c.take {
		return
	}
	before := start
	for range c.context {
		if before <= c.emitted || start-before > maxBefore {
			break
		}
		before = bytes.LastIndexByte(c.buf[:before-1], '\n') + 1
	}
	for before < start {
		before = c.hit(before, 0, 0)
	}
	for n := 0; start <= stop && n < maxMatchLines; n++ {
		start = c.hit(start, from, c.matches)
	}
	c.emitted, c.after = start, c.context
}

// showAfter collects the context after a match, up to a place.
func (c *scan) showAfter(end int) {
	for c.after > 0 && c.emitted < end {
		c.emitted = c.hit(c.emitted, 0, 0)
		c.after--
	}
}

// hit collects the line at start, and returns where the next begins.
func (c *scan) hit(start, from, no int) (next int) {
	end := c.have
	if i := bytes.IndexByte(c.buf[start:c.have], '\n'); i >= 0 {
		end = start + i
	}
	if start >= c.counted {
		c.line += bytes.Count(c.buf[c.counted:start], newline)
		c.counted = start
	}
	line := c.line - bytes.Count(c.buf[start:c.counted], newline)
	c.hits = append(c.hits, hit{line: line, text: showLine(c.buf[start:end], max(from-start, 0)), no: no})
	return end + 1
}

// slide drops what was searched, but for the context that may still be wanted.
func (c *scan) slide(end int) {
	keep := end
	if c.take > 0 {
		c.line += bytes.Count(c.buf[c.counted:end], newline)
		for range c.context {
			if keep == 0 || end-keep > maxBefore {
				break
			}
			keep = bytes.LastIndexByte(c.buf[:keep-1], '\n') + 1
		}
	}
	copy(c.buf, c.buf[keep:c.have])
	c.have -= keep
	c.at = end - keep
	c.counted = c.at
	c.emitted = max(c.emitted-keep, 0)
}

// unixLines makes each CRLF of the window a LF, in place, so that "$" and "\s"
// mean what they mean in other files. It returns where the window then ends.
func (c *scan) unixLines(end int) int {
	text := c.buf[c.at:end]
	n := bytes.Index(text, []byte("\r\n"))
	if n < 0 {
		return end
	}
	for i := n; i < len(text); i++ {
		if text[i] != '\r' || i+1 == len(text) || text[i+1] != '\n' {
			text[n] = text[i]
			n++
		}
	}
	c.have = c.at + n + copy(c.buf[c.at+n:], c.buf[end:c.have])
	return c.at + n
}
