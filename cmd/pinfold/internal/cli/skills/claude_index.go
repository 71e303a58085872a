package skills

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxIndex is how large an index of git's may be that is read, in bytes.
const maxIndex = 64 << 20

// gitLinks are the places of the submodules in a repository's index: in these git
// runs itself to compare them (git-diff(1), --ignore-submodules). The format is
// that of gitformat-index(5), versions 2 to 4. A repository without an index has
// none. What is not understood is an error.
func gitLinks(root string) (links []string, err error) {
	data, err := readIndex(root)
	if err != nil || data == nil {
		return nil, err
	}
	broken := errors.New("it is broken, or of a version that is not known")
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return nil, broken
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, broken
	}
	at, name := 12, []byte(nil)
	for range count {
		const fixed = 62 // the entry before its name: times, mode, owner, size, SHA-1, flags
		if len(data)-at < fixed+1 {
			return nil, broken
		}
		start := at
		mode, flags := binary.BigEndian.Uint32(data[at+24:]), binary.BigEndian.Uint16(data[at+60:])
		at += fixed
		if flags&0x4000 != 0 { // extended
			at += 2
		}
		if version == 4 {
			strip, n := offset(data[min(at, len(data)):])
			if n == 0 || strip > len(name) {
				return nil, broken
			}
			at += n
			name = name[:len(name)-strip]
		} else {
			name = name[:0]
		}
		n := bytes.IndexByte(data[min(at, len(data)):], 0)
		if n < 0 {
			return nil, broken
		}
		name = append(name, data[at:at+n]...)
		if at += n + 1; version < 4 {
			at = start + (at-1-start+8)/8*8 // one to eight zero bytes
		}
		if mode&0o170000 == 0o160000 {
			links = append(links, string(name))
		}
	}
	for len(data)-at > 20 { // extensions: one in small letters has to be understood
		if len(data)-at < 8 || data[at] < 'A' || data[at] > 'Z' {
			return nil, errors.New("it is split, sparse or otherwise not whole")
		}
		at += 8 + int(binary.BigEndian.Uint32(data[at+4:]))
	}
	return links, nil
}

// offset reads a number as packs have it for offsets; n is how many bytes it has,
// 0 for none.
func offset(data []byte) (value, n int) {
	for n < len(data) && n < 4 {
		c := data[n]
		if n > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if n++; c&0x80 == 0 {
			return value, n
		}
	}
	return 0, 0
}

// readIndex reads the index, also of a linked worktree. It is nil where there is
// none.
func readIndex(root string) ([]byte, error) {
	dir := filepath.Join(root, ".git")
	if st, err := os.Lstat(dir); err == nil && st.Mode().IsRegular() {
		text, err := os.ReadFile(dir)
		if err != nil {
			return nil, err
		}
		to, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "gitdir: ")
		if !ok || !filepath.IsAbs(to) {
			return nil, errors.New(".git names no directory")
		}
		dir = to
	}
	f, err := os.Open(filepath.Join(dir, "index"))
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIndex+1))
	if len(data) > maxIndex {
		err = errors.New("it is too large")
	}
	return data, err
}
