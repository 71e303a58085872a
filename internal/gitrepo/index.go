package gitrepo

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// Bounds of what Tracked reads.
const (
	maxIndex     = 32 << 20 // bytes of one index
	maxIndexName = 4096     // bytes of a name in it, as PATH_MAX
)

// errIndex says that a file is not an index that is understood.
var errIndex = errors.New("not an index of version 2, 3 or 4")

// Tracked reads the repository's index (gitformat-index(5)) and returns the
// paths for which match is true, relative to the worktree, in the index's
// order, at most limit of them. object is the name of the path's object, which
// match may not keep. complete says that these are all: it is false
// when there are more, when the index is larger than 32 MiB, or when the index
// of a sparse checkout leaves files out. What was deleted from the index since
// its shared part was written (git update-index --split-index) may still be
// returned. No index, as in a new or bare repository, has no paths.
//
// What is tracked can be read from the repository's objects, whatever is hidden
// in the worktree.
func (r *Repository) Tracked(match func(path string, object []byte) bool, limit int) (hits []string, complete bool, err error) {
	if r.GitDir == "" {
		return nil, true, nil
	}
	t := &tracked{match: match, limit: limit, hash: 20, complete: true, seen: map[string]bool{}}
	if r.sha256 {
		t.hash = 32
	}
	file := filepath.Join(r.GitDir, "index")
	shared, err := t.file(file)
	if err == nil && shared != "" {
		file = filepath.Join(r.GitDir, "sharedindex."+shared)
		_, err = t.file(file)
	}
	switch {
	case err == errFull:
		return t.hits, false, nil
	case err != nil:
		return nil, false, failed(file, err)
	}
	return t.hits, t.complete, nil
}

// errFull ends the reading when there are enough hits, or too much is read.
var errFull = errors.New("enough")

type tracked struct {
	opener
	match    func(string, []byte) bool
	limit    int
	hash     int // bytes of an object's name
	hits     []string
	seen     map[string]bool // the hits
	complete bool
}

// file reads one index file, and the name of the shared one that it builds on.
func (t *tracked) file(path string) (shared string, err error) {
	f, err := t.stream(path)
	switch {
	case missing(err):
		return "", nil
	case err != nil:
		return "", err
	}
	defer func() { _ = f.Close() }() // was only read
	in := &bounded{in: f, left: maxIndex}
	shared, err = t.read(bufio.NewReaderSize(in, 1<<16))
	if in.left == 0 && err != nil {
		err = errFull // what was cut off cannot be understood
	}
	return shared, err
}

// bounded ends after left bytes, and can tell that from the file's end.
type bounded struct {
	in   io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.in.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// read reads an index.
func (t *tracked) read(in *bufio.Reader) (shared string, err error) {
	var head [12]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return "", errIndex
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if string(head[:4]) != "DIRC" || version < 2 || version > 4 {
		return "", errIndex
	}
	var name []byte
	fixed := make([]byte, 40+t.hash+2)
	for range count {
		if name, err = t.entry(in, version, fixed, name); err != nil {
			return "", err
		}
		// A directory that a sparse checkout left out stands for all in it.
		if mode := binary.BigEndian.Uint32(fixed[24:]); mode&0o170000 == 0o040000 {
			t.complete = false
		}
		if len(name) == 0 { // replaces an entry of the shared index, under its name
			continue
		}
		if path := string(name); t.match(path, fixed[40:40+t.hash]) && !t.seen[path] {
			if len(t.hits) >= t.limit {
				return "", errFull
			}
			t.seen[path] = true
			t.hits = append(t.hits, path)
		}
	}
	return t.link(in)
}

// entry reads an entry's fixed part, and its name into the bytes of the
// name before it.
func (t *tracked) entry(in *bufio.Reader, version uint32, fixed, before []byte) ([]byte, error) {
	if _, err := io.ReadFull(in, fixed); err != nil {
		return nil, cut(err)
	}
	size := len(fixed)
	if flags := binary.BigEndian.Uint16(fixed[40+t.hash:]); version > 2 && flags&0x4000 != 0 {
		if _, err := in.Discard(2); err != nil {
			return nil, cut(err)
		}
		size += 2
	}
	name := before[:0]
	if version == 4 {
		drop, err := offset(in)
		if err != nil {
			return nil, err
		}
		if drop > len(before) {
			return nil, fmt.Errorf("%w: an entry takes %d bytes from a name of %d", errIndex, drop, len(before))
		}
		name = before[:len(before)-drop]
	}
	rest, err := in.ReadSlice(0)
	if err == bufio.ErrBufferFull || len(name)+len(rest)-1 > maxIndexName {
		return nil, fmt.Errorf("%w: a name is longer than %d bytes", errIndex, maxIndexName)
	}
	if err != nil {
		return nil, cut(err)
	}
	name = append(name, rest[:len(rest)-1]...)
	if version < 4 {
		// One to eight NUL bytes end the name, at a multiple of eight.
		if _, err := in.Discard(7 - (size+len(name))%8); err != nil {
			return nil, cut(err)
		}
	}
	return name, nil
}

// offset reads a number as pack files write their offsets.
func offset(in *bufio.Reader) (int, error) {
	c, err := in.ReadByte()
	if err != nil {
		return 0, cut(err)
	}
	n := int(c & 0x7f)
	for c&0x80 != 0 {
		if c, err = in.ReadByte(); err != nil {
			return 0, cut(err)
		}
		if n = (n+1)<<7 | int(c&0x7f); n > maxIndexName {
			return 0, fmt.Errorf("%w: a name is longer than %d bytes", errIndex, maxIndexName)
		}
	}
	return n, nil
}

// link looks for the extension that names a shared index.
func (t *tracked) link(in *bufio.Reader) (shared string, err error) {
	for {
		// What is left at the end is the checksum.
		rest, err := in.Peek(t.hash + 1)
		if err == io.EOF && len(rest) == t.hash {
			return "", nil
		}
		if err != nil {
			return "", cut(err)
		}
		size := int64(binary.BigEndian.Uint32(rest[4:]))
		is := string(rest[:4])
		if _, err := in.Discard(8); err != nil {
			return "", cut(err)
		}
		if is == "link" && size >= int64(t.hash) {
			base := make([]byte, t.hash)
			if _, err := io.ReadFull(in, base); err != nil {
				return "", cut(err)
			}
			for _, b := range base {
				if b != 0 {
					return hex.EncodeToString(base), nil
				}
			}
			return "", nil
		}
		if _, err := io.CopyN(io.Discard, in, size); err != nil {
			return "", cut(err)
		}
	}
}

// cut says that the file ends too early, unless it could not be read at all.
func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: it ends too early", errIndex)
	}
	return err
}
