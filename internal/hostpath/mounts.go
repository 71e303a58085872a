// Package hostpath says under which names a file of the host can be reached, and
// over which links a name leads to its file.
package hostpath

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds on what a strange host can cost.
const (
	maxMounts = 100_000 // that are looked at: the kernel's own limit (mount_max)
	maxNames  = 64      // of one file
)

// Mounts are what is mounted where, in the order of /proc/self/mountinfo. Without
// any, each file has one name.
type Mounts []mount

type mount struct {
	device string // major:minor of the file system
	root   string // the directory of that file system which is shown
	point  string // where
}

// ReadMounts reads those of this process; there are none where there is no /proc.
func ReadMounts() (Mounts, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // was only read
	return parseMounts(f)
}

// parseMounts reads the format of proc_pid_mountinfo(5).
func parseMounts(r io.Reader) (m Mounts, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for len(m) < maxMounts && lines.Scan() {
		fields := strings.SplitN(lines.Text(), " ", 6)
		if len(fields) == 6 {
			m = append(m, mount{device: fields[2], root: Unescape(fields[3]), point: Unescape(fields[4])})
		}
	}
	return m, lines.Err()
}

// Names are all absolute paths that lead to the file at real, which is an absolute
// path without links, and which comes first: a directory that is bind-mounted
// elsewhere shows its files there, too. There are at most 64. What covers such a
// name is not looked at: it may not be reachable just now.
func (m Mounts) Names(real string) []string {
	names := []string{real}
	at := -1
	for i := range m {
		if _, ok := Beneath(real, m[i].point); ok && (at < 0 || len(m[i].point) >= len(m[at].point)) {
			at = i
		}
	}
	if at < 0 {
		return names
	}
	rest, _ := Beneath(real, m[at].point)
	inside := filepath.Join(m[at].root, rest) // in its file system
	for i := range m {
		if m[i].device != m[at].device || len(names) == maxNames {
			continue
		}
		if rest, ok := Beneath(inside, m[i].root); ok {
			if name := filepath.Join(m[i].point, rest); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Beneath reports whether path is dir or lies beneath it, and the rest of it then,
// which is "." for dir itself. Both are clean absolute paths.
func Beneath(path, dir string) (rest string, ok bool) {
	switch {
	case path == dir:
		return ".", true
	case dir == "/":
		return path[1:], strings.HasPrefix(path, "/")
	}
	rest, ok = strings.CutPrefix(path, dir)
	if !ok || rest[0] != filepath.Separator {
		return "", false
	}
	return rest[1:], true
}

// Unescape undoes the octal escapes of a path in /proc/self/mountinfo.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
