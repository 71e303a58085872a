package sqlitestore

import (
	"errors"
	"os"
	"syscall"
)

// notice tells the other processes of a database that something was committed, and hears
// it from them: each writes a byte to a file beside the database, and watches it (inotify).
// The write-ahead log itself changes before a commit can be seen.
type notice struct {
	file  *os.File
	watch *os.File // the inotify instance
	heard chan struct{}
	over  chan struct{}
}

// newNotice is nil where nobody can be heard, such as when this user watches as many files
// as it may.
func newNotice(path string) *notice {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil
	}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		_ = file.Close()
		return nil
	}
	watch := os.NewFile(uintptr(fd), "inotify")
	if _, err := syscall.InotifyAddWatch(fd, path, syscall.IN_MODIFY); err != nil {
		_ = errors.Join(watch.Close(), file.Close())
		return nil
	}
	n := &notice{file: file, watch: watch, heard: make(chan struct{}, 1), over: make(chan struct{})}
	go n.listen()
	return n
}

// listen ends when watch is closed. What comes together is heard once.
func (n *notice) listen() {
	defer close(n.over)
	events := make([]byte, 4096)
	for {
		if _, err := n.watch.Read(events); err != nil {
			return
		}
		select {
		case n.heard <- struct{}{}:
		default:
		}
	}
}

// tell is called after each commit. Who is not told looks every lookInterval.
func (n *notice) tell() { _, _ = n.file.WriteAt([]byte{0}, 0) }

func (n *notice) close() error {
	err := n.watch.Close()
	<-n.over
	return errors.Join(err, n.file.Close())
}
