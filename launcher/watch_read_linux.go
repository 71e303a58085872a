package launcher

import (
	"bytes"
	"encoding/binary"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// caller is a thread that waits in a watched call, as /proc and its memory
// show it. Other threads may change both meanwhile.
type caller struct {
	proc int // the host's /proc
	tid  int
	args [6]uint64
	buf  []byte // scratch of unix.PathMax bytes
}

// file is the absolute path of what the call names, which may hold links and
// "..", or "" where it names nothing that has a path.
func (c *caller) file(a fileArg, flags uint64) string {
	text := ""
	if a.path != none {
		var ok bool
		if text, ok = c.text(c.args[a.path]); !ok {
			return ""
		}
		if n, ok := strings.CutPrefix(text, "/proc/self/fd/"); ok && !strings.Contains(n, "/") {
			return c.link("fd/" + n) // how a descriptor is named where a call takes none
		}
		if path.IsAbs(text) {
			return text
		}
		if text == "" && c.args[a.path] != 0 && flags&unix.AT_EMPTY_PATH == 0 {
			return ""
		}
	}
	base := "cwd"
	if a.dir != none && int32(c.args[a.dir]) != unix.AT_FDCWD {
		base = "fd/" + strconv.Itoa(int(int32(c.args[a.dir])))
	}
	dir := c.link(base)
	switch {
	case !path.IsAbs(dir): // a pipe, a socket
		return ""
	case text == "":
		return dir
	}
	return dir + "/" + text
}

// text reads the string at an address of the caller; at 0 it is empty.
func (c *caller) text(addr uint64) (string, bool) {
	if addr == 0 {
		return "", true
	}
	data := c.memory(addr, c.buf[:unix.PathMax])
	end := bytes.IndexByte(data, 0)
	if end < 0 {
		return "", false // not readable, or too long for a path
	}
	return string(data[:end]), true
}

// word reads 8 bytes.
func (c *caller) word(addr uint64) uint64 {
	var word [8]byte
	if len(c.memory(addr, word[:])) < len(word) {
		return 0
	}
	return binary.NativeEndian.Uint64(word[:])
}

// memory reads as much of buf's length as there is. A transfer stops where a
// piece cannot be read, so the pieces are pages.
func (c *caller) memory(addr uint64, buf []byte) []byte {
	var local [1]unix.Iovec
	local[0].Base = &buf[0]
	local[0].SetLen(len(buf))
	first := min(len(buf), int(pageSize-addr%pageSize))
	remote := [2]unix.RemoteIovec{{Base: uintptr(addr), Len: first}, {Base: uintptr(addr) + uintptr(first), Len: len(buf) - first}}
	// It can wait for a page of a file in the view: not by a raw system call,
	// which would keep the rest of the set-up helper from running.
	n, err := unix.ProcessVMReadv(c.tid, local[:], remote[:], 0)
	if err != nil {
		return nil
	}
	return buf[:n]
}

// pageSize is the least that any machine has.
const pageSize = 4096

// link reads a link in the caller's directory of /proc.
func (c *caller) link(name string) string {
	n, err := unix.Readlinkat(c.proc, strconv.Itoa(c.tid)+"/"+name, c.buf)
	if err != nil {
		return ""
	}
	return string(c.buf[:n])
}

// program is the caller's name (comm).
func (c *caller) program() string {
	fd, err := unix.Openat(c.proc, strconv.Itoa(c.tid)+"/comm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, c.buf)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(c.buf[:n]), "\n")
}
