package launcher

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// kind says how a standard stream reaches the command.
type kind uint8

const (
	kindNull     kind = iota // nothing there, or /dev/null: the inner /dev/null
	kindTerminal             // through a terminal made inside
	kindStream               // its bytes are relayed by a pipe
)

// classify looks at a stream of the caller. Bytes pass, descriptors do not:
// what the command holds it can open again by /proc/self/fd/N, a directory
// would be a way to the whole host, a file would open for writing, and a
// pipe's other readers could be robbed or fed.
func classify(name string, f *os.File) (kind, *unix.Stat_t, error) {
	if f == nil {
		return kindNull, nil, nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		if err == unix.EBADF {
			return kindNull, nil, nil // closed by the caller
		}
		return 0, nil, &SetupError{Step: "look at " + name, Err: err}
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return 0, nil, &SetupError{Step: "pass " + name,
			Err: errors.New(name + " is a directory, through which the whole system could be reached"),
			Fix: "redirect it from or to a file, a pipe or a terminal"}
	case unix.S_IFBLK:
		return 0, nil, &SetupError{Step: "pass " + name, Err: errors.New(name + " is a block device")}
	case unix.S_IFCHR:
		if unix.Major(st.Rdev) == 1 && unix.Minor(st.Rdev) == 3 {
			return kindNull, nil, nil
		}
		if isTerminal(int(f.Fd())) {
			return kindTerminal, &st, nil
		}
	}
	return kindStream, &st, nil
}

// streams are the three standard streams and what connects them.
type streams struct {
	outer [3]*os.File
	kinds [3]kind
	child [3]*os.File // the command's ends; nil for a terminal
	pipes [3]*os.File // our ends
	same  bool        // stderr goes where stdout goes, by one pipe, in order
	null  *os.File
}

var streamNames = [3]string{"standard input", "standard output", "standard error"}

// newStreams decides how each stream reaches the command.
func newStreams(outer [3]*os.File) (*streams, error) {
	s := &streams{outer: outer}
	var stats [3]*unix.Stat_t
	var err error
	for i, f := range s.outer {
		if s.kinds[i], stats[i], err = classify(streamNames[i], f); err != nil {
			return nil, err
		}
	}
	// Without a terminal for output, keys are not relayed: another program
	// of the pipeline may want them. Lines typed are.
	if s.kinds[0] == kindTerminal && s.kinds[1] != kindTerminal {
		s.kinds[0] = kindStream
	}
	s.same = s.kinds[1] == kindStream && s.kinds[2] == kindStream &&
		stats[1].Dev == stats[2].Dev && stats[1].Ino == stats[2].Ino
	return s, nil
}

// openStreams decides on each stream and makes the pipes. The caller closes.
func openStreams(c Config, id userID) (s *streams, err error) {
	if s, err = newStreams([3]*os.File{c.Stdin, c.Stdout, c.Stderr}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.null, err = os.OpenFile("/dev/null", os.O_RDWR, 0); err != nil {
		return s, err
	}
	for i, k := range s.kinds {
		switch {
		case k == kindTerminal:
		case k == kindNull:
			s.child[i] = s.null
		case i == 2 && s.same:
			s.child[2] = s.child[1]
		default:
			if err = s.pipe(i, id); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

func (s *streams) pipe(i int, id userID) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.child[i], s.pipes[i] = w, r
	if i == 0 {
		s.child[i], s.pipes[i] = r, w
	}
	// So that the command can open /dev/stdin and its like.
	if id.UID != os.Geteuid() {
		if err := s.child[i].Chown(id.UID, id.GID); err != nil {
			return fmt.Errorf("give %s to the user: %w", streamNames[i], err)
		}
	}
	return nil
}

// terminal reports whether a terminal is needed, and which of the caller's
// files it stands for.
func (s *streams) terminal() *os.File {
	for _, i := range []int{1, 2, 0} {
		if s.kinds[i] == kindTerminal {
			return s.outer[i]
		}
	}
	return nil
}

// interactive: keys go to the command, and the outer terminal is raw.
func (s *streams) interactive() bool {
	return s.kinds[0] == kindTerminal && s.kinds[1] == kindTerminal
}

// closeChild closes the command's ends, so that only the command holds them.
// The read end of standard input stays where unread bytes are to be given
// back.
func (s *streams) closeChild() {
	for i, f := range s.child {
		if f != nil && f != s.null && (i != 2 || !s.same) {
			if i == 0 && s.seekable() {
				continue
			}
			f.Close()
		}
	}
}

// seekable: standard input is a regular file, whose position others share.
func (s *streams) seekable() bool {
	if s.kinds[0] != kindStream {
		return false
	}
	st, err := s.outer[0].Stat()
	return err == nil && st.Mode().IsRegular()
}

func (s *streams) close() {
	for i := range s.child {
		for _, f := range []*os.File{s.child[i], s.pipes[i]} {
			if f != nil {
				f.Close() // a second close only says so
			}
		}
	}
	if s.null != nil {
		s.null.Close()
	}
}
