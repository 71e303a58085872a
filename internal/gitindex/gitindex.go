// Package gitindex checks an index of git's before git on the host reads it:
// "git checkout ." writes to every path that an index names, and git 2.39 does
// not look at them when it reads an index that somebody else has written, be it
// "../../.bashrc" or ".git/hooks/post-checkout".
//
//	clean, err := gitindex.Check(data, gitindex.SHA1)
//
// The format is that of gitformat-index(5), versions 2 to 4.
package gitindex

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own checksum, not a protection
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Hash is the length of an object's name in bytes.
type Hash int

// The object formats of git.
const (
	SHA1   Hash = 20
	SHA256 Hash = 32
)

// kept are the extensions that have no paths that git acts by, or whose paths
// are checked. All others that may be left out are: the untracked cache names
// files that "git clean" removes, and the file system monitor's says what to
// believe unchanged.
var kept = map[string]func(rest []byte, h Hash) error{
	"TREE": checkTree,
	"REUC": checkUndo,
	"link": checkLink,
	"sdir": checkSparse,
}

// checkSparse checks the mark of a sparse index, which has no content.
func checkSparse(rest []byte, _ Hash) error {
	if len(rest) > 0 {
		return errors.New("has content")
	}
	return nil
}

// Check returns the index without the extensions that git on the host should
// not believe; where there are none it is data itself. The error says what is
// wrong with it, and quotes a path that git must not be led to.
func Check(data []byte, h Hash) ([]byte, error) {
	if len(data) < 12+int(h) || string(data[:4]) != "DIRC" {
		return nil, errors.New("is no index")
	}
	version := binary.BigEndian.Uint32(data[4:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("has the unknown version %d", version)
	}
	end := len(data) - int(h)
	at, nameless, err := entries(data[:end], binary.BigEndian.Uint32(data[8:]), version, h)
	if err != nil {
		return nil, err
	}
	if nameless && (end-at < 4 || string(data[at:at+4]) != "link") {
		return nil, errors.New("has an empty path")
	}
	return extensions(data, at, end, h)
}

// entries checks the path of each entry and returns where they end. Those of a
// split index that take the place of a shared one have no path.
func entries(data []byte, count, version uint32, h Hash) (at int, nameless bool, err error) {
	at = 12
	fixed := 40 + int(h) + 2
	var last []byte
	var ok pathChecker
	for range count {
		if len(data)-at < fixed {
			return 0, false, errors.New("ends within an entry")
		}
		flags := binary.BigEndian.Uint16(data[at+fixed-2:])
		head := fixed
		if flags&0x4000 != 0 { // extended
			if version < 3 || len(data)-at < head+2 {
				return 0, false, errors.New("has an entry with flags of another version")
			}
			head += 2
		}
		rest := data[at+head:]
		if version == 4 {
			strip, n := varint(rest)
			if n <= 0 || strip > uint64(len(last)) {
				return 0, false, errors.New("has an entry whose path cannot be read")
			}
			end := bytes.IndexByte(rest[n:], 0)
			if end < 0 {
				return 0, false, errors.New("ends within a path")
			}
			last = append(last[:len(last)-int(strip)], rest[n:n+end]...)
			at += head + n + end + 1
		} else {
			end := bytes.IndexByte(rest, 0)
			if end < 0 {
				return 0, false, errors.New("ends within a path")
			}
			last = rest[:end:end]
			size := (head + end + 8) &^ 7
			if size > len(data)-at {
				return 0, false, errors.New("ends within an entry")
			}
			at += size
		}
		// git takes the length from the flags where it fits in them.
		if n := int(flags & 0xfff); n != 0xfff && n != len(last) || n == 0xfff && len(last) < 0xfff {
			return 0, false, fmt.Errorf("has the path %q with another length", clip(last))
		}
		if len(last) == 0 {
			nameless = true
			continue
		}
		if err := ok.check(last); err != nil {
			return 0, false, err
		}
	}
	return at, nameless, nil
}

// varint reads the offset encoding of version 4 and returns how long it is.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 9 {
		c := b[n]
		n++
		v = v<<7 | uint64(c&0x7f)
		if c&0x80 == 0 {
			return v, n
		}
		v++
	}
	return 0, -1
}

// extensions checks those that are kept and leaves the others out.
func extensions(data []byte, at, end int, h Hash) ([]byte, error) {
	var keep [][2]int
	dropped := false
	for from := at; from < end; {
		if end-from < 8 {
			return nil, errors.New("ends within an extension")
		}
		name := string(data[from : from+4])
		size := int(binary.BigEndian.Uint32(data[from+4:]))
		if size > end-from-8 {
			return nil, fmt.Errorf("has the extension %q that is longer than the rest", name)
		}
		next := from + 8 + size
		check, known := kept[name]
		switch {
		case known:
			if err := check(data[from+8:next], h); err != nil {
				return nil, fmt.Errorf("has the extension %q, which %w", name, err)
			}
			keep = append(keep, [2]int{from, next})
		case name[0] < 'A' || name[0] > 'Z': // git refuses what it does not know
			return nil, fmt.Errorf("has the unknown extension %q", name)
		default:
			// EOIE and IEOT too: they are offsets at which git begins to read entries
			// and extensions, whatever was checked.
			dropped = true
		}
		from = next
	}
	if !dropped {
		return data, nil
	}
	clean := bytes.Clone(data[:at])
	for _, k := range keep {
		clean = append(clean, data[k[0]:k[1]]...)
	}
	if bytes.Equal(data[end:], make([]byte, h)) { // index.skipHash
		return append(clean, data[end:]...), nil
	}
	if h == SHA256 {
		sum := sha256.Sum256(clean)
		return append(clean, sum[:]...), nil
	}
	sum := sha1.Sum(clean) //nolint:gosec // see the import
	return append(clean, sum[:]...), nil
}

// checkTree checks the names in the cache of trees.
func checkTree(rest []byte, h Hash) error {
	for first := true; len(rest) > 0; first = false {
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			return errors.New("ends within a name")
		}
		name := rest[:end]
		if !first || len(name) > 0 {
			if bytes.IndexByte(name, '/') >= 0 {
				return fmt.Errorf("has the name %q", clip(name))
			}
			if err := new(pathChecker).check(name); err != nil {
				return err
			}
		}
		rest = rest[end+1:]
		line := bytes.IndexByte(rest, '\n')
		if line < 0 || line > 40 {
			return errors.New("ends within a count")
		}
		invalid := line > 0 && rest[0] == '-' // no object follows
		rest = rest[line+1:]
		if invalid {
			continue
		}
		if len(rest) < int(h) {
			return errors.New("ends within an object's name")
		}
		rest = rest[h:]
	}
	return nil
}

// checkUndo checks the paths of merges that were resolved.
func checkUndo(rest []byte, h Hash) error {
	var ok pathChecker
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			return errors.New("ends within a path")
		}
		if err := ok.check(rest[:end]); err != nil {
			return err
		}
		rest = rest[end+1:]
		objects := 0
		for range 3 {
			if end = bytes.IndexByte(rest, 0); end < 0 || end > 12 {
				return errors.New("ends within a mode")
			}
			if string(rest[:end]) != "0" {
				objects++
			}
			rest = rest[end+1:]
		}
		if len(rest) < objects*int(h) {
			return errors.New("ends within an object's name")
		}
		rest = rest[objects*int(h):]
	}
	return nil
}

// checkLink is the name of a shared index, which is checked by itself.
func checkLink(rest []byte, h Hash) error {
	if len(rest) < int(h) {
		return errors.New("ends within a name")
	}
	return nil
}

// pathChecker checks one path after the other. Neighbours share directories.
type pathChecker struct{ dir []byte }

// check refuses what git's verify_path() refuses, on the file systems that any
// host may have: components that are empty, "." or "..", or ".git" in a spelling
// that some file system takes for it (CVE-2014-9390, CVE-2019-1353).
func (c *pathChecker) check(path []byte) error {
	rest := path
	if len(c.dir) > 0 && len(path) > len(c.dir) && path[len(c.dir)] == '/' && bytes.HasPrefix(path, c.dir) {
		rest = path[len(c.dir)+1:]
	}
	if len(rest) == 0 {
		return errors.New("has an empty path")
	}
	for at := rest; ; {
		name, tail, more := bytes.Cut(at, []byte("/"))
		if reason := badName(name); reason != "" {
			return fmt.Errorf("names the path %q, %s", clip(path), reason)
		}
		if !more {
			break
		}
		if at = tail; len(at) == 0 {
			break // a directory of a sparse index
		}
	}
	if i := bytes.LastIndexByte(path, '/'); i >= 0 {
		c.dir = append(c.dir[:0], path[:i]...)
	}
	return nil
}

// badName says what is wrong with one component; "" if nothing is.
func badName(name []byte) string {
	switch {
	case len(name) == 0:
		return "which has an empty component"
	case name[0] != '.' && name[0] != 'g' && name[0] != 'G' && name[0] < 0x80:
		return ""
	case string(name) == "." || string(name) == "..":
		return "which leads elsewhere"
	case isGit(string(name)):
		return "which lies in a git directory"
	}
	return ""
}

// isGit reports whether some file system takes a name for ".git": folded, with
// code points that are not seen, short as "GIT~1", or with what NTFS ignores.
func isGit(name string) bool {
	base, _, _ := strings.Cut(name, ":")
	base = strings.TrimRight(base, " .")
	if strings.EqualFold(base, ".git") || strings.EqualFold(base, "git~1") {
		return true
	}
	for i := range len(name) {
		if name[i] >= 0x80 {
			seen := strings.Map(func(r rune) rune {
				if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
					return -1
				}
				return r
			}, name)
			return seen != name && strings.EqualFold(norm.NFC.String(seen), ".git")
		}
	}
	return false
}

// clip keeps a message short.
func clip(b []byte) []byte { return b[:min(len(b), 200)] }
