package ops

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Stamp is the time that "chtimes" sets.
var Stamp = time.Unix(1_000_000_000, 0)

// Native does operations by the standard library and plain system calls,
// confined by nothing. A relative path is appended to Root as text; with an
// empty Root it is left to the process's working directory.
type Native struct{ Root string }

var _ Executor = Native{}

func (n Native) path(p string) string {
	if n.Root == "" || filepath.IsAbs(p) {
		return p
	}
	return n.Root + "/" + p
}

// Do does one operation. It blocks where the system does.
func (n Native) Do(op Op) Result {
	p, q := n.path(op.Arg(0)), n.path(op.Arg(1))
	switch op.Verb {
	case "read":
		return Failed(os.ReadFile(p))
	case "list":
		return List(os.ReadDir(p))
	case "stat":
		return Info(os.Stat(p))
	case "lstat":
		return Info(os.Lstat(p))
	case "readlink":
		target, err := os.Readlink(p)
		return Failed([]byte(target), err)
	case "statfs":
		var st unix.Statfs_t
		return Failed(nil, unix.Statfs(p, &st))
	case "connect":
		return Failed(nil, connect(p))
	case "write":
		return Failed(nil, os.WriteFile(p, []byte(op.Arg(1)), 0o644))
	case "edit":
		return Failed(nil, n.put(p, os.O_WRONLY, op.Arg(1)))
	case "append":
		return Failed(nil, n.put(p, os.O_WRONLY|os.O_APPEND, op.Arg(1)))
	case "create":
		return Failed(nil, n.put(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, op.Arg(1)))
	case "truncate":
		return Failed(nil, os.Truncate(p, 0))
	case "mkdir":
		return Failed(nil, os.Mkdir(p, 0o755))
	case "mkdirall":
		return Failed(nil, os.MkdirAll(p, 0o755))
	case "remove":
		return Failed(nil, os.Remove(p))
	case "removeall":
		return Failed(nil, os.RemoveAll(p))
	case "rename":
		return Failed(nil, os.Rename(p, q))
	case "exchange":
		return Failed(nil, unix.Renameat2(unix.AT_FDCWD, p, unix.AT_FDCWD, q, unix.RENAME_EXCHANGE))
	case "link":
		return Failed(nil, os.Link(p, q))
	case "symlink":
		return Failed(nil, os.Symlink(op.Arg(0), q))
	case "chmod":
		return Failed(nil, os.Chmod(p, Mode(op.Arg(1))))
	case "chown":
		return Failed(nil, os.Lchown(p, os.Getuid(), otherGroup()))
	case "setxattr":
		return Failed(nil, unix.Setxattr(p, "user.pinfold", []byte("x"), 0))
	case "fallocate":
		return Failed(nil, n.fallocate(p))
	case "chtimes":
		return Failed(nil, os.Chtimes(p, Stamp, Stamp))
	}
	return Failed(nil, ErrUnsupported)
}

func (Native) put(p string, flag int, data string) error {
	f, err := os.OpenFile(p, flag, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(data)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func (Native) fallocate(p string) error {
	f, err := os.OpenFile(p, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fallocate(int(f.Fd()), 0, 0, 4096)
}

func connect(p string) error {
	c, err := net.Dial("unix", p)
	if err != nil {
		return err
	}
	return c.Close()
}

// otherGroup is a group that a file may be given: any by root, the own one by
// an ordinary user.
func otherGroup() int {
	if os.Getuid() == 0 {
		return 1
	}
	return os.Getgid()
}

// List makes the result of a directory listing: the names, sorted, one space
// between them.
func List(entries []fs.DirEntry, err error) Result {
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sort.Strings(names)
	return Failed([]byte(strings.Join(names, " ")), err)
}

// Info makes the result of a stat: the word for the type.
func Info(info fs.FileInfo, err error) Result {
	if err != nil {
		return Failed(nil, err)
	}
	return Failed([]byte(kind(info.Mode())), nil)
}

// Mode reads an octal number; what is none is 0.
func Mode(s string) fs.FileMode {
	m, _ := strconv.ParseUint(s, 8, 12)
	return fs.FileMode(m)
}
