package launcher

import (
	"errors"
	"os"
	"path"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Control acts on a run from beside it, in the process that called Run. It is for one
// Run; make it with NewControl. Who may use it is the caller's to decide: what runs
// inside must not.
type Control struct {
	stop chan time.Duration

	changing sync.Mutex    // one change at a time; taken before mu
	done     chan message  // what the set-up helper says of it
	started  chan struct{} // closed when the command runs
	gone     chan struct{} // closed when the set-up helper is gone, or never came

	mu      sync.Mutex
	session *session    // nil: nothing runs
	init    int         // the channel to process 1; -1: there is none
	last    int         // ID of a further command
	further map[int]int // the channels to their callers, by ID
}

// NewControl makes one that nothing runs under yet.
func NewControl() *Control {
	return &Control{stop: make(chan time.Duration, 1), done: make(chan message, 1), started: make(chan struct{}), gone: make(chan struct{}), init: -1, further: map[int]int{}}
}

var errNotRunning = errors.New("nothing runs")

// maxFurther bounds how many further commands run at a time.
const maxFurther = 64

// execPatience is how long a caller may take to say what it wants, in milliseconds.
const execPatience = 10_000

// Stop gives the command SIGTERM, continues it if it is stopped, and ends everything
// inside after a time, at one blow, through process 1. It returns at once; the end of Run
// is the end. The time of the last call counts.
func (c *Control) Stop(after time.Duration) {
	for {
		select {
		case c.stop <- after:
			return
		case <-c.stop: // an earlier one that was not seen yet
		}
	}
}

// Exec starts a further command inside for the process at the other end of conn, which
// called Join there, and serves it until the command has ended or that process is gone;
// then the command gets SIGHUP. The command is confined as the first one is, and ends
// with the run. conn is a packet socket, and the caller's to close.
func (c *Control) Exec(conn *os.File) error {
	fd := int(conn.Fd())
	m, request, err := receive(fd, execPatience)
	if err == nil && (m.Verb != sayExec || request < 0) {
		err = errors.New("it asked for nothing")
	}
	if err != nil {
		if request >= 0 {
			unix.Close(request)
		}
		return err
	}
	id, err := c.admit(fd, request)
	unix.Close(request)
	if err != nil {
		_ = send(fd, message{Verb: sayExit, Code: ExitSetup, Reason: err.Error()}, -1)
		return err
	}
	defer c.leave(id)
	for {
		m, attached, err := receive(fd, -1)
		if attached >= 0 {
			unix.Close(attached) // nothing of the caller's goes inside
		}
		if err != nil {
			c.toInit(message{Verb: saySignal, ID: id, Signal: unix.SIGHUP}, -1)
			return nil
		}
		if m.Verb == saySignal {
			c.toInit(message{Verb: saySignal, ID: id, Signal: m.Signal}, -1)
		}
	}
}

// Started waits until the command runs: before, the view is not mounted, and cannot be
// changed. An error says that nothing has run.
func (c *Control) Started() error {
	select {
	case <-c.gone:
	case <-c.started:
	}
	select {
	case <-c.started: // though it may have ended by now
		return nil
	default:
		return errNotRunning
	}
}

// Mount mounts mount i of Config.View, which was added to it, where it lies in the project.
// It is for sandboxfs.View.Allow.
func (c *Control) Mount(i int) error {
	return c.change(func(s *session) (message, *os.File, error) {
		m := message{Verb: sayMount, Mount: i, Path: []byte(path.Join(s.plan.Root, s.config.View.Mounts()[i].Place)), Args: new(mountArgs)}
		m.Args.Source, m.Args.FSType, m.Args.Flags, m.Args.Data = s.config.View.MountArgs(i, fdFuse)
		return m, nil, nil
	})
}

// Show changes the content of files of Config.Files. Who has one open keeps what was
// there before.
func (c *Control) Show(files map[string][]byte) error {
	return c.change(func(*session) (message, *os.File, error) {
		content, err := writeSealed(files)
		return message{Verb: sayShow}, content, err
	})
}

// change has the set-up helper do something.
func (c *Control) change(what func(s *session) (message, *os.File, error)) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s == nil {
		return errNotRunning
	}
	m, file, err := what(s)
	if err != nil {
		return err
	}
	attach := -1
	if file != nil {
		defer file.Close()
		attach = int(file.Fd())
	}
	c.mu.Lock()
	if err = errNotRunning; c.session != nil {
		err = send(s.setup, m, attach)
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case m := <-c.done:
		if m.Reason != "" {
			if err := m.setupError(); err.Step != "" {
				return err
			}
			return m.setupError().Err
		}
		return nil
	case <-c.gone:
		return errNotRunning
	}
}

// changed passes on what the set-up helper says of a change.
func (c *Control) changed(m message) {
	if c != nil {
		c.done <- m
	}
}

// admit has process 1 start what a request says.
func (c *Control) admit(conn, request int) (id int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.init < 0:
		return 0, errNotRunning
	case len(c.further) >= maxFurther:
		return 0, errors.New("too many commands were started in this run")
	}
	c.last++
	if err := send(c.init, message{Verb: sayExec, ID: c.last}, request); err != nil {
		return 0, err
	}
	c.further[c.last] = conn
	return c.last, nil
}

func (c *Control) leave(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.further, id)
}

// toInit says something to process 1, as long as there is one.
func (c *Control) toInit(m message, attach int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.init >= 0 {
		_ = send(c.init, m, attach)
	}
}

// tell passes on what process 1 says of a further command. A caller that does not read
// keeps nobody up: it misses it.
func (c *Control) tell(m message) {
	if m.attached >= 0 {
		defer unix.Close(m.attached)
	}
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn, ok := c.further[m.ID]; ok && waitWritable(conn) {
		_ = send(conn, m, m.attached)
	}
}

// waitWritable reports whether a packet can be sent at once.
func waitWritable(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLOUT != 0
}

// stops are those that are asked for; nil, and so none, without a Control.
func (c *Control) stops() <-chan time.Duration {
	if c == nil {
		return nil
	}
	return c.stop
}

// begin says that process 1 is there.
func (c *Control) begin(s *session) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.init, c.session = s.init, s
	}
}

// commandStarted says that the command runs.
func (c *Control) commandStarted() {
	if c != nil {
		close(c.started)
	}
}

// setupGone says that the set-up helper is gone, or never came.
func (c *Control) setupGone() {
	if c != nil {
		close(c.gone)
	}
}

// end says that it is gone, and with it all further commands.
func (c *Control) end() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.init, c.session = -1, nil
	for _, conn := range c.further {
		_ = unix.Shutdown(conn, unix.SHUT_RDWR) // its caller sees the end
	}
}
