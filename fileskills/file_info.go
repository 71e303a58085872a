package fileskills

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

type fileInfoIn struct {
	Path listPath `json:"path"`
}

var describeFile = define(spec[fileInfoIn]{
	name:        "file_info",
	description: "Describes a file, directory or link: kind, size, mode, time, lines, sha256, writable.",
	idempotent:  true,
	act: func(ctx context.Context, c *call, in *fileInfoIn) (*Result, error) {
		return promptly(ctx, func() (*Result, error) { return c.fileInfo(ctx, string(in.Path)) })
	},
})

func (c *call) fileInfo(ctx context.Context, unsafePath string) (*Result, error) {
	info, err := c.fs.Lstat(unsafePath)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	line := func(key, format string, args ...any) {
		fmt.Fprintf(&text, "%s: "+format+"\n", append([]any{key}, args...)...)
	}
	meta := Meta{}
	if info.Mode()&fs.ModeSymlink != 0 {
		line("link", "%s", c.linkTo(unsafePath))
		if info, err = c.fs.Stat(unsafePath); err != nil {
			meta.Path = shown(unsafePath)
			line("target", "not there, or not readable")
			return &Result{Text: strings.TrimSuffix(text.String(), "\n"), Meta: meta}, nil
		}
	}
	line("kind", "%s", kindOf(info.Mode()))
	size := info.Size()
	if info.Mode().IsRegular() {
		meta.Bytes = &size
		line("size", "%d bytes", size)
	}
	line("mode", "%s", info.Mode())
	line("modified", "%s", rfc3339(info.ModTime()))
	switch {
	case info.IsDir():
		err = c.describeDir(unsafePath, &meta, line)
	case info.Mode().IsRegular():
		err = c.describeContent(ctx, unsafePath, &meta, line)
	}
	if err != nil {
		return nil, err
	}
	writable := "no"
	if c.denies(access.FSWrite, unsafePath) == nil {
		writable = "yes"
	}
	line("writable", "%s", writable)
	return &Result{Text: strings.TrimSuffix(text.String(), "\n"), Meta: meta}, nil
}

// linkTo is where a link leads, as list_directory shows it.
func (c *call) linkTo(unsafePath string) string {
	dir, name := path.Split(strings.TrimRight(unsafePath, "/"))
	if dir == "" {
		dir = "."
	}
	d, err := c.fs.OpenDir(dir)
	if err != nil {
		return "(unreadable)"
	}
	defer d.Close()
	return c.linkText(d, name)
}

func (c *call) describeDir(unsafePath string, meta *Meta, line func(key, format string, args ...any)) error {
	d, err := c.fs.OpenDir(unsafePath)
	if err != nil {
		return err
	}
	defer d.Close()
	entries, err := d.ReadDir()
	if err != nil {
		return err
	}
	total := len(entries)
	meta.Path, meta.Total = d.Place(), &total
	line("entries", "%d", total)
	return nil
}

// describeContent looks into a file: all of it while that costs little.
func (c *call) describeContent(ctx context.Context, unsafePath string, meta *Meta, line func(key, format string, args ...any)) error {
	f, err := c.fs.Open(unsafePath)
	if err != nil {
		return err
	}
	defer f.Close()
	meta.Path = f.Place()
	head := make([]byte, min(*meta.Bytes, binaryProbe))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	head = head[:n]
	hash := sha256.New()
	hash.Write(head)
	text, encoding := textReader(head, io.TeeReader(f, hash))
	binary := encoding == "" && bytes.IndexByte(head, 0) >= 0
	if kind := http.DetectContentType(head); n > 0 {
		line("type", "%s", kind)
	}
	if encoding != "" {
		line("encoding", "%s", encoding)
	}
	if *meta.Bytes > maxHashed {
		return nil
	}
	if bytes.Contains(head, []byte("\r\n")) {
		line("line ends", "CRLF")
	}
	p := pager{offset: 1, limit: 1}
	got, err := p.read(ctx, text)
	if err != nil {
		return err
	}
	if !binary {
		meta.Lines = &got.total
		line("lines", "%d", got.total)
	}
	meta.Hash = hex.EncodeToString(hash.Sum(nil))
	line("sha256", "%s", meta.Hash)
	return nil
}
