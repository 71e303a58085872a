package launcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/cgroup"
)

const (
	// killAfter is how long a command may go on after ctx was cancelled and it
	// got SIGTERM.
	killAfter = 10 * time.Second
	// endAfter is how long process 1 has to kill what is inside before it is
	// killed itself. Its own death ends everything too, but not at once while
	// thousands of processes want to run: it has to run for that.
	endAfter = time.Second
	// lastOutput is how long, after the command's time is up, the reader of the
	// output has for what is under way. A reader that does not read does not
	// put off the end.
	lastOutput = 250 * time.Millisecond
)

// Run runs the command inside and returns when it, and everything that it
// started, has ended and its output has been delivered.
//
// An error is a *SetupError, and says that the command never ran. When ctx is
// cancelled the command gets SIGTERM and, 10 s later, everything inside is
// killed. Signals that this process gets are passed on; SIGTERM also continues
// a command that is stopped, and Config.Grace later ends everything inside. Run
// does not close the view, but its connections are about to end when Run returns.
func Run(ctx context.Context, c Config) (Result, error) {
	s, err := begin(c)
	if err != nil {
		c.Control.setupGone()
		return Result{}, err
	}
	defer s.std.close()
	defer s.held()
	defer s.endGroup()
	return s.run(ctx)
}

// begin starts the set-up helper.
func begin(c Config) (s *session, err error) {
	if c.Resolver != nil {
		c.Root = cmp.Or(c.Root, c.Resolver.Root())
		if c.WritePaths == nil {
			c.WritePaths = c.Resolver.WritePaths()
		}
	}
	if c.View == nil {
		return nil, &SetupError{Step: "show the project", Err: fmt.Errorf("no view given")}
	}
	if err := c.checkLimits(); err != nil {
		return nil, err
	}
	host, err := lookAtHost(c)
	defer func() {
		if err != nil {
			host.letGo()
		}
	}()
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(c, host)
	if err != nil {
		return nil, err
	}
	if c.Time > 0 {
		// The supervisor does it first, unless it is suspended.
		plan.Time = c.Time + c.graceOfTime() + 2*endAfter
	}
	std, err := openStreams(c, plan.ID)
	if err != nil {
		return nil, err
	}
	s = &session{config: c, plan: plan, std: std, held: host.letGo, messages: make(chan message), gone: make(chan struct{}),
		suspendKeys: make(chan struct{}, 1),
		masters:     make(chan *os.File, 1), setupDone: make(chan struct{}), judged: make(chan struct{})}
	if err := s.start(); err != nil {
		std.close()
		return nil, err
	}
	return s, nil
}

// session is one run, as the supervisor sees it.
type session struct {
	config Config
	plan   *runPlan
	std    *streams
	held   func() // lets go of what has to stay open until it is shown

	pid    int // of the set-up helper
	mu     sync.Mutex
	reaped bool // guarded by mu: pid may be somebody else's

	gone      chan struct{} // closed when the set-up helper has been reaped
	setup     int           // our ends of the channels
	init      int
	messages  chan message // from init; closed when it is gone
	masters   chan *os.File
	setupDone chan struct{}
	outer     *outerTerminal

	suspendKeys chan struct{} // the operator typed the key that suspends
	stops       stops         // of the goroutine that follows the command
	group       *cgroup.Group // nil: there is none
	keeper      int           // removes it, and hears from keep; 0: there is none
	keep        int

	deadline time.Time // after which everything inside is killed; zero: none
	forced   bool      // it was
	timeOver bool      // Config.Time was over

	attempts  *os.File // what the set-up helper heard of; nil where nobody wants to know
	judged    chan struct{}
	dropped   uint64   // read after judged
	fromSetup message  // its last words; read after setupDone
	lost      []string // likewise

	hearing sync.WaitGroup // hearHost
	repeats *repeatChannel // read after hearing; nil where no program inside asked for it
	unheard []string       // likewise: what hearHost could not do

	unconfined []string // guarantees of Config.Confine that could not be had
}

// start starts the set-up helper and serves the view until it has been mounted.
func (s *session) start() error {
	theirs, err := s.spawn()
	for _, fd := range theirs {
		unix.Close(fd)
	}
	s.std.closeChild()
	if err != nil {
		if s.attempts != nil {
			s.attempts.Close()
		}
		s.endGroup()
		var se *SetupError
		if errors.As(err, &se) {
			return se
		}
		return &SetupError{Step: "start the set-up helper in its namespaces", Err: err, Fix: spawnHint(err)}
	}
	// Meanwhile the set-up helper starts, so this delays nothing. Nobody can have made a
	// request yet.
	if s.config.Confine {
		s.unconfined = s.config.confine()
	}
	s.config.Control.begin(s)
	go s.listen(s.init)
	go s.listenSetup()
	go s.judge()
	return nil
}

// listen passes on what init says. Its end is the end of everything inside.
func (s *session) listen(fd int) {
	defer close(s.messages)
	for {
		m, attached, err := receive(fd, -1)
		if err != nil {
			return
		}
		m.attached = attached
		s.messages <- m
	}
}

// listenSetup serves each mount of the view when its descriptor arrives.
func (s *session) listenSetup() {
	defer close(s.setupDone)
	defer close(s.masters)
	defer s.config.Control.setupGone()
	var network netFiles
	defer network.close()
	for {
		m, fd, err := receive(s.setup, -1)
		if err != nil {
			return
		}
		switch m.Verb {
		case sayFuse:
			answer := message{Verb: sayServed}
			if err := s.config.views()[m.View].View.Serve(m.Mount, fd); err != nil {
				answer = failure(err)
			}
			_ = send(s.setup, answer, -1)
		case sayNet:
			if answer, done := network.take(s.config.Gateway, fd); done {
				_ = send(s.setup, answer, -1)
			}
		case sayMaster:
			_ = unix.SetNonblock(fd, true)
			s.masters <- os.NewFile(uintptr(fd), "terminal")
		case sayLost:
			s.lost = m.Lost
		case sayInotify:
			s.hearing.Go(s.hearHost)
		case sayDone:
			s.config.Control.changed(m)
		default:
			s.fromSetup = m
		}
	}
}

// run follows the command to its end.
func (s *session) run(ctx context.Context) (res Result, err error) {
	beat := time.NewTicker(time.Duration(s.plan.HangMillis) * time.Millisecond / 4)
	defer beat.Stop()
	signals, stopSignals := catchSignals()
	defer stopSignals()
	done := ctx.Done()
	var end, kill, timeOver <-chan time.Time
	var rel *relay
	started, ended := false, false
	for messages := s.messages; messages != nil; {
		select {
		case m, ok := <-messages:
			if !ok {
				messages = nil
				break
			}
			if m.ID != 0 {
				s.config.Control.tell(m)
				break
			}
			switch m.Verb {
			case sayStarted:
				if !started {
					s.config.Control.commandStarted()
					if s.config.Time > 0 {
						timeOver = time.After(s.config.Time)
					}
				}
				started = true
				res.Lost = m.Lost
				if rel, err = s.connect(); err != nil {
					s.kill()
				}
			case sayStopped:
				s.stopped(m.Signal)
			case sayExit:
				ended = true
				if !s.config.WaitBackground {
					timeOver = nil
				}
				res.ExitCode, res.Signal, res.Reason = m.Code, m.Signal, m.Reason
			case sayFailed:
				err = m.setupError()
			}
		case <-s.suspendKeys:
			s.suspendKey()
		case sig := <-signals:
			s.pass(sig)
			if sig == unix.SIGTERM && s.deadline.IsZero() {
				end = cmp.Or(s.terminate(cmp.Or(s.config.Grace, DefaultGrace)), end)
			}
		case sig := <-s.config.Signals:
			s.pass(sig)
		case grace := <-s.config.Control.stops():
			s.pass(unix.SIGTERM)
			end = s.terminate(grace)
		case <-beat.C:
			_ = send(s.setup, message{Verb: sayBeat}, -1)
		case <-done:
			done = nil
			if end == nil {
				end = time.After(killAfter)
			}
			s.pass(unix.SIGTERM)
		case <-timeOver:
			s.timeOver = true
			s.pass(unix.SIGTERM)
			if grace := s.config.graceOfTime(); s.deadline.IsZero() || time.Until(s.deadline) > grace {
				end = s.terminate(grace)
			}
		case <-end:
			s.forced = true
			s.group.Hurry()
			_ = send(s.init, message{Verb: sayEnd}, -1)
			kill = time.After(endAfter)
		case <-kill:
			s.kill()
		}
	}
	<-s.gone // the set-up helper has ended, and with it all processes inside
	<-s.setupDone
	<-s.judged
	s.hearing.Wait() // the set-up helper, which it talks to, is gone
	s.repeats.close()
	s.config.Pause.end() // what waits for the terminal waits no longer
	if rel != nil {
		if rel.finish(s.std.pipes, s.overdue()) {
			s.outer.putBack(s.std)
		}
	}
	if s.outer != nil {
		s.outer.restore()
	}
	s.config.Control.end()
	unix.Close(s.setup)
	unix.Close(s.init)
	res, err = s.conclude(res, err, started, ended)
	if rel != nil && err == nil {
		rel.conclude(&res)
	}
	return res, err
}

// conclude says how it ended when init could not say so.
func (s *session) conclude(res Result, err error, started, ended bool) (Result, error) {
	res.Dropped = s.dropped
	memoryOver := s.group.OutOfMemory()
	timeOver := s.timeOver || s.fromSetup.Verb == sayTime
	switch {
	case err != nil:
		return Result{}, err
	case started && memoryOver:
		s.endedByMemory(&res)
		return res, nil
	case ended && timeOver:
		s.endedByTime(&res)
		res.Lost = slices.Concat(s.lost, res.Lost, s.unconfined, s.unheard)
		return res, nil
	case ended:
		if s.forced {
			res.Reason = tooLong
		}
		res.Lost = slices.Concat(s.lost, res.Lost, s.unconfined, s.unheard)
		return res, nil
	case s.fromSetup.Verb == sayFailed:
		return Result{}, s.fromSetup.setupError()
	case memoryOver:
		return Result{}, &SetupError{Step: "set up", Err: errors.New(s.outOfMemory())}
	case !started:
		return Result{}, &SetupError{Step: "set up", Err: fmt.Errorf("a helper process ended without a word")}
	}
	res.ExitCode, res.Signal = exitSignal+int(unix.SIGKILL), unix.SIGKILL
	if timeOver {
		s.endedByTime(&res)
		return res, nil
	}
	res.Reason = "everything inside was killed"
	if s.forced {
		res.Reason = tooLong
	}
	if s.fromSetup.Verb == sayHung {
		res.Reason = fmt.Sprintf("pinfold gave no sign of life for %v, so everything inside was ended", time.Duration(s.plan.HangMillis)*time.Millisecond)
	}
	return res, nil
}

// endedByTime says so.
func (s *session) endedByTime(res *Result) {
	res.ExitCode, res.Limit = ExitTime, LimitTime
	res.Reason = fmt.Sprintf("ended after %v: --time %[1]v", s.config.Time)
	if s.forced || s.fromSetup.Verb == sayTime {
		res.Reason += "; it did not end by SIGTERM, so everything inside was killed"
	}
}

// graceOfTime is what the command has after its time is over: it ends in any case.
func (c *Config) graceOfTime() time.Duration {
	if c.Grace < 0 {
		return DefaultGrace
	}
	return cmp.Or(c.Grace, DefaultGrace)
}

const tooLong = "the command did not end in time after SIGTERM, so everything inside was killed"

// connect joins the streams once the command runs.
func (s *session) connect() (*relay, error) {
	if t := s.std.terminal(); t != nil {
		// The set-up helper sent the master before it started init.
		if master := <-s.masters; master != nil {
			s.outer = &outerTerminal{file: t, master: master}
		}
	}
	return s.std.connect(s.outer, s.config.Pause, s.typed)
}

// connect moves bytes between the caller's streams and the command's from now on. outer
// is nil where the command has no terminal, and typed where nobody looks at its keys.
func (std *streams) connect(outer *outerTerminal, pause *Pause, typed func([]byte, func() error) error) (*relay, error) {
	r, err := newRelay()
	if err != nil {
		return nil, err
	}
	r.pause = pause
	if outer != nil {
		if std.interactive() {
			r.pause.begin(outer)
			r.pause.reading(outer.raw)
			r.typed = typed
			r.input(std.outer[0], outer.master, nil, outer.mayRead)
		}
		r.output("to the terminal", outer.master, outer.file, outer.written)
	}
	for i := 1; i <= 2; i++ {
		if std.pipes[i] != nil {
			r.output(streamNames[i], std.pipes[i], std.outer[i], nil)
		}
	}
	if std.pipes[0] != nil {
		var unread *os.File
		if std.seekable() {
			unread = std.child[0]
		}
		var may func() bool
		if fd := int(std.outer[0].Fd()); isTerminal(fd) {
			may = func() bool { return mayReadLines(fd) }
		}
		r.input(std.outer[0], std.pipes[0], unread, may)
	}
	return r, nil
}
