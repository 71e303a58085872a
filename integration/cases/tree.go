package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Entry is one entry of a tree, written on one line:
//
//	PATH = CONTENT      a file
//	PATH/               a directory
//	PATH => TARGET      a symbolic link
//	PATH == OTHER       a hard link to OTHER
//	PATH | fifo         a FIFO; also: sock, a socket that listens; null, a device
//	PATH chain N TARGET links PATH1 -> PATH2 -> ... -> PATHN -> TARGET
//	PATH nest N         PATH0 -> ".", PATHk -> PATHk-1/PATHk-1, up to PATHN
//
// Parents are made as they are needed.
type Entry struct{ Path, How, What string }

func parseEntry(text string) (Entry, error) {
	words, err := split(text)
	if err != nil {
		return Entry{}, err
	}
	switch {
	case len(words) == 1 && strings.HasSuffix(words[0], "/"):
		return Entry{Path: strings.TrimSuffix(words[0], "/"), How: "/"}, nil
	case len(words) == 3 && strings.Contains(" = => == | nest ", " "+words[1]+" "):
		return Entry{Path: words[0], How: words[1], What: words[2]}, nil
	case len(words) == 4 && words[1] == "chain":
		return Entry{Path: words[0], How: "chain " + words[2], What: words[3]}, nil
	}
	return Entry{}, fmt.Errorf("%q is no tree entry", text)
}

// Make makes the entry beneath root. listen makes a listening socket.
func (e Entry) Make(root string, vars Vars, listen func(path string) error) error {
	p := filepath.Join(root, vars.Expand(e.Path))
	what := vars.Expand(e.What)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	how, count, _ := strings.Cut(e.How, " ")
	switch how {
	case "/":
		return os.MkdirAll(p, 0o755)
	case "=":
		return os.WriteFile(p, []byte(what), 0o644)
	case "=>":
		return os.Symlink(what, p)
	case "==":
		return os.Link(filepath.Join(root, what), p)
	case "|":
		return special(p, what, listen)
	case "chain":
		return chain(p, filepath.Base(p), count, what)
	}
	return nest(p, filepath.Base(p), what)
}

func special(p, kind string, listen func(string) error) error {
	switch kind {
	case "fifo":
		return unix.Mkfifo(p, 0o644)
	case "null":
		return unix.Mknod(p, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
	case "sock":
		return listen(p)
	}
	return fmt.Errorf("unknown kind of file %q", kind)
}

func chain(p, base, count, target string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		if err := os.Symlink(fmt.Sprint(base, i+1), fmt.Sprint(p, i)); err != nil {
			return err
		}
	}
	return os.Symlink(target, fmt.Sprint(p, n))
}

func nest(p, base, levels string) error {
	n, err := strconv.Atoi(levels)
	if err != nil {
		return err
	}
	if err := os.Symlink(".", p+"0"); err != nil {
		return err
	}
	for i := 1; i <= n; i++ {
		if err := os.Symlink(fmt.Sprint(base, i-1, "/", base, i-1), fmt.Sprint(p, i)); err != nil {
			return err
		}
	}
	return nil
}
