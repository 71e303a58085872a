package live

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

const (
	// maxConnections bounds how many clients a run serves at a time.
	maxConnections = 100
	// patience is how long a client may take to say what it wants, and to take the answer.
	patience = 10 * time.Second
	// maxOrder bounds what a client says at once, in bytes.
	maxOrder = 64 << 10
)

// order is what a client says first.
type order struct {
	Do    string        `json:"do"`
	After time.Duration `json:"after,omitempty"` // of stop
	What  string        `json:"what,omitempty"`  // of exec: the program, for the record

	Change
}

// The words of an order.
const (
	doStop   = "stop"
	doExec   = "exec"
	doChange = "change"
)

// reply is what it is told.
type reply struct {
	Error string `json:"error,omitempty"`
	Ended bool   `json:"ended,omitempty"`
	Code  int    `json:"code,omitempty"` // with which the command ended
	Left  string `json:"left,omitempty"` // as 'pinfold left' calls it

	Violations []pathresolver.Violation `json:"violations,omitempty"` // of a change
	Changed
}

// Run is this process's run, as others find it. Its methods do nothing on nil.
type Run struct {
	record  Record
	dir     string
	held    *os.File
	Log     *os.File // what is told of the run; nil once it is closed
	socket  *net.UnixListener
	control *launcher.Control
	obeys   Obeys

	changing sync.Mutex // guards record once others may change it

	over    chan struct{} // closed once the run has ended
	end     reply         // read after over
	clients sync.WaitGroup
	room    chan struct{}
}

// Begin makes the record of a run that begins, and its socket, which does not answer yet.
// Where this user can keep no state it returns nil and no error.
func Begin(r Record) (_ *Run, err error) {
	base, err := state.LogDir()
	if err == nil {
		err = os.MkdirAll(base, 0o700)
	}
	if err == nil {
		err = checkOwn(base)
	}
	if err != nil {
		return nil, nil
	}
	now := time.Now()
	l := &Run{over: make(chan struct{}), room: make(chan struct{}, maxConnections)}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if l.dir, err = os.MkdirTemp(base, now.UTC().Format(state.RunTime)+"-"); err != nil {
		return nil, err
	}
	if l.held, err = state.HoldRun(l.dir); err != nil {
		return nil, err
	}
	if l.Log, err = os.OpenFile(filepath.Join(l.dir, ReportFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	r.ID, r.Started = filepath.Base(l.dir), cli.TimeText(now)
	l.record = r
	name, done, err := shortName(l.dir)
	if err != nil {
		return nil, err
	}
	defer done()
	if l.socket, err = net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: name}); err != nil {
		return nil, err
	}
	l.socket.SetUnlinkOnClose(false) // the name is another directory's by then
	if err = l.record.write(l.dir); err != nil {
		return nil, err
	}
	return l, nil
}

// ID is how the run is called; "" for nil.
func (l *Run) ID() string {
	if l == nil {
		return ""
	}
	return l.record.ID
}

// Place is what the run's process needs of the state while it runs.
func (l *Run) Place() []string {
	if l == nil {
		return nil
	}
	return []string{l.dir}
}

// Obeys are what a run does for its user.
type Obeys struct {
	// Started is told of each further command, before it is started.
	Started func(program string)
	// Change changes the rules, through the control that Serve returns. An error says that
	// they are as before.
	Change func(*launcher.Control, Change) (Changed, error)
}

// Serve obeys until End or Close. What is done to the processes is done through the
// control that it returns.
func (l *Run) Serve(obeys Obeys) *launcher.Control {
	if l == nil {
		return nil
	}
	l.obeys = obeys
	l.control = launcher.NewControl()
	started := make(chan struct{})
	go func() {
		if l.control.Started() == nil {
			close(started)
		}
	}()
	l.clients.Go(func() {
		select { // the start has better things to do
		case <-started:
		case <-l.over:
		}
		state.PruneLogs(filepath.Dir(l.dir), time.Now())
	})
	l.clients.Go(func() {
		for {
			c, err := l.socket.AcceptUnix()
			if err != nil {
				return // it is closed
			}
			select {
			case l.room <- struct{}{}:
				l.clients.Go(func() {
					l.serve(c)
					_ = c.Close() // nothing is owed on it
					<-l.room
				})
			default:
				_ = c.Close() // it may try again
			}
		}
	})
	return l.control
}

// serve does what one client wants.
func (l *Run) serve(c *net.UnixConn) {
	_ = c.SetDeadline(time.Now().Add(patience))
	p, err := peerOf(c)
	if err != nil {
		// What is closed with something unread is reset, and the answer lost.
		_, _ = c.Read(make([]byte, 1))
		_ = say(c, reply{Error: err.Error()})
		return
	}
	defer p.close()
	var o order
	if err := hear(c, &o); err != nil {
		return // it only looked whether somebody is here
	}
	switch o.Do {
	case doStop:
		l.control.Stop(max(o.After, 0))
		<-l.over
		_ = c.SetDeadline(time.Now().Add(patience))
		_ = say(c, l.end)
	case doExec:
		f, err := c.File()
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }() // nothing is owed on it
		l.obeys.Started(o.What)
		if say(c, reply{}) == nil {
			_ = l.control.Exec(f) // whoever asked is told
		}
	case doChange:
		answer := l.change(o.Change)
		_ = c.SetDeadline(time.Now().Add(patience))
		_ = say(c, answer)
	default:
		_ = say(c, reply{Error: "this run is of another version of pinfold, and knows no '" + o.Do + "'"})
	}
}

// change changes the rules, and the record with them.
func (l *Run) change(c Change) (r reply) {
	l.changing.Lock()
	defer l.changing.Unlock()
	var invalid *pathresolver.ConfigError
	var err error
	if r.Changed, err = l.obeys.Change(l.control, c); errors.As(err, &invalid) {
		r.Violations = invalid.Violations
	} else if err != nil {
		r.Error = err.Error()
	}
	if err == nil {
		r.tellLess()
		l.record.WritePaths = r.WritePaths
		_ = l.record.write(l.dir) // the rules hold in any case
	}
	return r
}

// maxTold bounds how much of Changed.Open is told, in bytes: an answer is as small as an order.
const maxTold = 16 << 10

// tellLess leaves out what would make the answer too long.
func (c *Changed) tellLess() {
	told := 0
	for i, path := range c.Open {
		if told += len(path); told > maxTold {
			c.Open, c.More = c.Open[:i], len(c.Open)-i
			return
		}
	}
}

func say(c *net.UnixConn, v any) error {
	data, err := json.Marshal(v)
	if err == nil && len(data) >= maxOrder {
		err = errors.New("that is too much at once: say less")
	}
	if err == nil {
		_, err = c.Write(data)
	}
	return err
}

func hear(c *net.UnixConn, v any) error {
	data := make([]byte, maxOrder)
	n, err := c.Read(data)
	if err == nil && n == len(data) {
		err = errors.New("it says too much")
	}
	if err == nil {
		err = json.Unmarshal(data[:n], v)
	}
	return err
}

// End says how the run ended, to whoever waits for it and in the record.
func (l *Run) End(code int, left string) {
	if l == nil {
		return
	}
	l.end = reply{Ended: true, Code: code, Left: left}
	l.changing.Lock()
	l.record.Ended, l.record.Code = cli.TimeText(time.Now()), code
	_ = l.record.write(l.dir) // it has ended in any case
	l.changing.Unlock()
	l.Close()
}

// Close ends the answering, once those who wait have been told. A run whose End was not
// called did not come about, and nothing is remembered of it.
func (l *Run) Close() {
	if l == nil || l.dir == "" {
		return
	}
	if l.socket != nil {
		_ = os.Remove(filepath.Join(l.dir, socketFile)) // or 'pinfold ps' does
		_ = l.socket.Close()                            // nothing is owed on it
	}
	close(l.over)
	l.clients.Wait()
	if l.Log != nil {
		_ = l.Log.Close() // each line was written by itself
	}
	if l.record.Ended == "" {
		_ = os.RemoveAll(l.dir) // as far as this process still may
	}
	if l.held != nil {
		_ = l.held.Close() // it was only held
	}
	l.dir = ""
}
