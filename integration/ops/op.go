package ops

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Op is one operation: a verb and its arguments, which are bytes because a
// path need not be text.
type Op struct {
	Verb string   `json:"verb"`
	Args [][]byte `json:"args"`
}

// Arg is argument i, "" where there is none.
func (o Op) Arg(i int) string {
	if i < len(o.Args) {
		return string(o.Args[i])
	}
	return ""
}

func (o Op) String() string {
	words := []string{o.Verb}
	for _, a := range o.Args {
		w := string(a)
		if len(w) > 80 {
			w = w[:80] + "..."
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// Result is what came of an operation. Without Errno, Rule and Text it went
// well, and Data holds what was read.
type Result struct {
	Data  []byte `json:"data,omitempty"`
	Errno string `json:"errno,omitempty"` // name of the system's error, as "EROFS"
	Rule  string `json:"rule,omitempty"`  // rule of a *pathresolver.DeniedError
	Text  string `json:"text,omitempty"`  // the error's text
}

// OK reports whether the operation went well.
func (r Result) OK() bool { return r.Errno == "" && r.Rule == "" && r.Text == "" }

// Executor does operations on one surface.
type Executor interface{ Do(Op) Result }

// ErrUnsupported is the error of a verb that a surface does not have.
var ErrUnsupported = errors.New("this surface has no such operation")

// ErrHang is the error of an operation that did not end in time.
var ErrHang = errors.New("the operation hangs")

// Failed makes the result of err; nil gives a good one that holds data.
func Failed(data []byte, err error) Result {
	if err == nil {
		return Result{Data: data}
	}
	res := Result{Text: err.Error()}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		res.Errno = unix.ErrnoName(errno)
	case errors.Is(err, fs.ErrInvalid):
		res.Errno = "EINVAL"
	case errors.Is(err, fs.ErrNotExist):
		res.Errno = "ENOENT"
	case errors.Is(err, fs.ErrExist):
		res.Errno = "EEXIST"
	}
	return res
}

// kind is the word for a file's type: what "stat" and "lstat" answer.
func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "dir"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m&fs.ModeNamedPipe != 0:
		return "fifo"
	case m&fs.ModeSocket != 0:
		return "sock"
	}
	return "device"
}
