package fileskills

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	// maxHashed is the largest file that read_file hashes where no guard demands
	// that files be read, in bytes: as much as costs less than a round trip.
	maxHashed = 1 << 20
	// maxImage is the largest image that is handed out, in bytes: the models'
	// own limit.
	maxImage = 5 << 20
)

type readFileIn struct {
	Path        readPath `json:"path"`
	Offset      int      `json:"offset,omitzero" default:"1" min:"1" jsonschema:"first line, from 1"`
	Limit       int      `json:"limit,omitzero" default:"2000" min:"1" max:"2000"`
	LineNumbers bool     `json:"line_numbers,omitzero" default:"true"`
}

var readFile = define(spec[readFileIn]{
	name:        "read_file",
	description: "Reads a text file by lines, or an image. At most 2000 lines and 64 KiB; the result says where to go on.",
	idempotent:  true,
	act: func(ctx context.Context, c *call, in *readFileIn) (*Result, error) {
		return promptly(ctx, func() (*Result, error) { return c.readFile(ctx, in) })
	},
})

func (c *call) readFile(ctx context.Context, in *readFileIn) (*Result, error) {
	f, err := c.fs.Open(string(in.Path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fail(CodeIsDirectory, string(in.Path), "%s is a directory.", shown(string(in.Path))).
			hint("list_directory lists it.")
	}
	size := info.Size()
	meta := Meta{Path: f.Place(), Bytes: &size}
	head := make([]byte, min(size, binaryProbe))
	if n, err := io.ReadFull(f, head); err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	} else if head = head[:n]; n == 0 {
		return c.readNothing(&meta), nil
	}
	kind := http.DetectContentType(head)
	if strings.HasPrefix(kind, "image/") {
		return readImage(f, head, kind, meta)
	}
	hash := sha256.New()
	var rest io.Reader = f
	wanted := c.set.guard == GuardWarn || c.set.guard == GuardRequire
	hashed := size <= maxHashed || wanted && size <= maxEditBytes
	if hashed {
		hash.Write(head)
		rest = io.TeeReader(f, hash)
	}
	text, encoding := textReader(head, rest)
	if encoding == "" && bytes.IndexByte(head, 0) >= 0 {
		return nil, binaryFile(string(in.Path), kind, size)
	}
	p := pager{offset: in.Offset, limit: in.Limit, numbers: in.LineNumbers}
	got, err := p.read(ctx, text)
	if err != nil {
		return nil, err
	}
	if got.end < got.start {
		return nil, fail(CodeInvalidArgument, string(in.Path), "offset %d is beyond the end: %s has %s.",
			in.Offset, shown(string(in.Path)), countOf(got.total, "line", "lines"))
	}
	if hashed && got.total >= 0 {
		meta.Hash = hex.EncodeToString(hash.Sum(nil))
		c.noteRead(meta.Path, meta.Hash)
	}
	return readPage(got, encoding, meta), nil
}

// readPage is the result that shows a page.
func readPage(p *page, encoding string, meta Meta) *Result {
	meta.Start, meta.End = &p.start, &p.end
	if p.total >= 0 {
		meta.Total = &p.total
	}
	if p.more {
		next := p.end + 1
		meta.Truncated, meta.NextOffset = true, &next
		if p.total >= 0 {
			fmt.Fprintf(&p.text, "[lines %d-%d of %d; continue with offset=%d]\n", p.start, p.end, p.total, next)
		} else {
			fmt.Fprintf(&p.text, "[lines %d-%d of a file of %s; continue with offset=%d]\n", p.start, p.end, byteSize(*meta.Bytes), next)
		}
	} else if p.start > 1 {
		fmt.Fprintf(&p.text, "[lines %d-%d of %d; end of file]\n", p.start, p.end, p.total)
	}
	if encoding != "" {
		fmt.Fprintf(&p.text, "[the file is %s]\n", encoding)
	}
	if p.escaped {
		p.text.WriteString("[bytes that are not UTF-8 are shown as \\xNN]\n")
	}
	return &Result{Text: strings.TrimSuffix(p.text.String(), "\n"), Meta: meta}
}

func (c *call) readNothing(meta *Meta) *Result {
	none := 0
	meta.Total = &none
	sum := sha256.Sum256(nil)
	meta.Hash = hex.EncodeToString(sum[:])
	c.noteRead(meta.Path, meta.Hash)
	return &Result{Text: "[the file is empty]", Meta: *meta}
}

func readImage(f File, head []byte, kind string, meta Meta) (*Result, error) {
	if *meta.Bytes > maxImage {
		return nil, fail(CodeTooLarge, meta.Path, "%s is an image of %s; at most %s are shown.",
			shown(meta.Path), byteSize(*meta.Bytes), byteSize(maxImage))
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxImage))
	if err != nil {
		return nil, err
	}
	return &Result{
		Text:  fmt.Sprintf("[%s, %s]", kind, byteSize(*meta.Bytes)),
		Meta:  meta,
		Parts: []Part{{MIMEType: kind, Data: append(head, rest...)}},
	}, nil
}

func binaryFile(unsafePath, kind string, size int64) *Error {
	what := "a binary file"
	if kind, _, _ := strings.Cut(kind, ";"); kind != "application/octet-stream" && kind != "text/plain" {
		what += " (" + kind + ")"
	}
	return fail(CodeBinaryFile, unsafePath, "%s is %s of %s; it is not shown.", shown(unsafePath), what, byteSize(size)).
		hint("file_info describes it.")
}

// byteSize is a size for people.
func byteSize(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return countOf(int(n), "byte", "bytes")
	}
	div, unit := int64(1024), 0
	for n/div >= 1024 {
		div *= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", float64(n)/float64(div), units[unit])
}
