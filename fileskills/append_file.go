package fileskills

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"strings"
)

type appendFileIn struct {
	Path    writePath `json:"path"`
	Content string    `json:"content"`
	Newline bool      `json:"newline,omitzero" default:"true" jsonschema:"begin on a new line, end with one"`
}

var appendFile = define(spec[appendFileIn]{
	name:        "append_file",
	description: "Adds text at the end of a file; makes the file if it is missing.",
	meta:        "path bytes lines created",
	act:         actAppendFile,
})

func actAppendFile(ctx context.Context, c *call, in *appendFileIn) (*Result, error) {
	for range maxStaleTries {
		res, err := c.tryAppend(ctx, in)
		if !errors.Is(err, errMoved) {
			return res, err
		}
	}
	return nil, fail(CodeStaleFile, string(in.Path), "%s keeps changing. Nothing was written.", shown(string(in.Path)))
}

func (c *call) tryAppend(ctx context.Context, in *appendFileIn) (*Result, error) {
	rep, unlock, err := c.replace(ctx, string(in.Path), ReplaceOptions{Parents: true})
	if err != nil {
		return nil, err
	}
	defer unlock()
	defer rep.Close()
	var was fs.FileInfo
	var known hash.Hash // of what the client knows of the file; nil for nothing
	text := in.Content
	if old := rep.Old(); old != nil {
		if known, err = c.knownContent(ctx, rep.Place(), old); err != nil {
			return nil, err
		}
		if was, err = old.Stat(); err != nil {
			return nil, err
		}
		if text, err = joined(old, was.Size(), in); err != nil {
			return nil, err
		}
		if _, err := rep.CopyFrom(ctx, old); err != nil {
			return nil, err
		}
	} else if in.Newline {
		text = ended(text, "\n")
	}
	if err := writeWhole(ctx, rep, []byte(text)); err != nil {
		return nil, err
	}
	if err := rep.Commit(ctx, stillLike(was)); err != nil {
		return nil, err
	}
	if known != nil {
		known.Write([]byte(text))
		c.noteRead(rep.Place(), hex.EncodeToString(known.Sum(nil)))
	}
	meta := Meta{
		Path: rep.Place(), Bytes: ptr(int64(len(text))), Lines: ptr(countLines([]byte(text))),
		Created: was == nil,
	}
	verb := "Appended"
	if meta.Created {
		verb = "Created"
	}
	return &Result{Text: fmt.Sprintf("%s %s: %s, %s.", verb, shown(meta.Path), count(*meta.Lines, "line"), count(len(text), "byte")), Meta: meta}, nil
}

// knownContent is the hash of a file, to be gone on with, where it has the content
// that the client knows; else nil.
func (c *call) knownContent(ctx context.Context, place string, f File) (hash.Hash, error) {
	known := c.known(place)
	if known == "" {
		return nil, nil
	}
	h, err := hashing(ctx, f)
	if err != nil || hex.EncodeToString(h.Sum(nil)) != known {
		return nil, err
	}
	return h, nil
}

// joined is the text as it goes behind what is there: on a line of its own,
// and with the line ending of the file's last line.
func joined(old File, size int64, in *appendFileIn) (string, error) {
	head := make([]byte, min(size, 8<<10))
	if n, err := old.ReadAt(head, 0); n < len(head) {
		return "", err
	}
	name := shown(string(in.Path))
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "", fail(CodeInvalidEncoding, string(in.Path), "%s is UTF-16: appending would break it. Nothing was written.", name).
			hint("edit_file changes such files.")
	case bytes.IndexByte(head, 0) >= 0:
		return "", fail(CodeBinaryFile, string(in.Path), "%s is a binary file. Nothing was written.", name)
	}
	if !in.Newline || size == 0 {
		if in.Newline {
			return ended(in.Content, "\n"), nil
		}
		return in.Content, nil
	}
	tail := make([]byte, min(size, 4<<10))
	if n, err := old.ReadAt(tail, size-int64(len(tail))); n < len(tail) {
		return "", err
	}
	ending := "\n"
	if at := bytes.LastIndexByte(tail, '\n'); at > 0 && tail[at-1] == '\r' {
		ending = "\r\n"
	}
	text := ended(in.Content, "\n")
	if ending != "\n" {
		text = strings.ReplaceAll(lineFeeds(text), "\n", ending)
	}
	if tail[len(tail)-1] != '\n' {
		text = ending + text
	}
	return text, nil
}

// ended is text with a line ending at its end.
func ended(text, ending string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + ending
}
