package child

import (
	"encoding/gob"
	"errors"
	"net"
	"os"
	"os/exec"
)

// A Line is how this process and one that it has started speak to each other. Values
// go both ways as gob: a path may hold any byte. Each end hears when the other
// process is gone.
type Line struct {
	conn net.Conn
	in   *gob.Decoder
	out  *gob.Encoder
}

func newLine(conn net.Conn) *Line {
	return &Line{conn: conn, in: gob.NewDecoder(conn), out: gob.NewEncoder(conn)}
}

// Tell sends a value.
func (l *Line) Tell(v any) error { return l.out.Encode(v) }

// Hear waits for the next value. An error is that there is none: the other process is
// gone, or has closed the line.
func (l *Line) Hear(v any) error { return l.in.Decode(v) }

// Close closes the line. A process that was started ends then.
func (l *Line) Close() error { return l.conn.Close() }

// Self is the path by which this program starts itself again: where there is one, the
// kernel's link to the running file. By now an agent may have put another file at the
// path that it was started from.
func Self() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// Command is a command of this program, to be started by Start.
func Command(word string) (*exec.Cmd, error) {
	self, err := Self()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, word)
	cmd.Args[0] = "pinfold"
	return cmd, nil
}

// Start starts a command of Command, and tells it given first. Its standard input is
// the line. cmd.ExtraFiles are closed here: the process has its own.
func Start(cmd *exec.Cmd, given any) (*Line, error) {
	ours, theirs, err := Pair("line")
	if err == nil {
		cmd.Stdin = theirs
		err = errors.Join(cmd.Start(), theirs.Close())
	}
	for _, f := range cmd.ExtraFiles {
		_ = f.Close() // it is only inherited
	}
	if ours == nil {
		return nil, err
	}
	l := newLine(ours)
	if err == nil {
		err = l.Tell(given)
	}
	if err == nil {
		return l, nil
	}
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	return nil, errors.Join(err, l.Close())
}

// Parent is the line to the process that started this one by Start, which has told
// given. An error is that nobody has: this process was started by hand.
func Parent(given any) (*Line, error) {
	conn, err := net.FileConn(os.Stdin)
	if err != nil {
		return nil, err
	}
	l := newLine(conn)
	return l, l.Hear(given)
}

// Inherited is the only one of the ExtraFiles that this process was started with, as the
// connection that it is. No process that is started from here inherits it.
func Inherited() (net.Conn, error) {
	given := os.NewFile(3, "inherited")
	conn, err := net.FileConn(given)
	return conn, errors.Join(err, given.Close())
}
