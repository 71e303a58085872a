package run

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// Who answers for a run looks at the processes that ask, starts programs, and reaches
// sockets. The process that serves the run's view must be able to do none of that, so
// the two are apart: they speak over a connection that nobody else can reach.

// A question is what the view's process says.
type question struct {
	ID   uint64
	What word
	Of   sandboxfs.AskRequest // of wordAsk and wordRecord
	To   access.Access        // of wordGranted
	Exit broker.Exit          // of wordEnd
}

// A reply is what the other one says: to a question, or by itself.
type reply struct {
	ID     uint64
	What   word
	Yes    bool   // without it the answer is no, whatever else is set
	Error  string // where it is no
	Socket string // of wordReady
	Wait   time.Duration
	Code   int
	Hint   string
}

type word byte

const (
	wordAsk word = iota + 1
	wordRecord
	wordGranted
	wordGiveUp // an earlier wordAsk
	wordEnd

	wordReady
	wordAnswer
	wordInterrupt
	wordFired
)

// errApart is the refusal where the process that answers is gone.
var errApart = errors.New("the process that finds an answer has ended")

// apart is the view's side.
type apart struct {
	cmd  *exec.Cmd
	conn net.Conn
	gone chan struct{} // closed once nothing more will be said

	sending sync.Mutex
	out     *gob.Encoder

	mu   sync.Mutex
	last uint64
	open map[uint64]chan reply

	signals chan os.Signal
	fired   context.CancelFunc
}

var _ sandboxfs.Asker = (*apart)(nil)

// apart finds who answers in another process, which lasts until the run's end.
func (o *asked) apart(ctx context.Context, a *cli.App) (_ *answers, err error) {
	self, err := child.Self()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := child.SocketPair("answers")
	if err != nil {
		return nil, err
	}
	p := &apart{conn: ours, out: gob.NewEncoder(ours), gone: make(chan struct{}), open: map[uint64]chan reply{}, signals: make(chan os.Signal, 1)}
	p.cmd = exec.Command(self, answersName)
	p.cmd.Args[0] = "pinfold"
	p.cmd.Stdout, p.cmd.Stderr = cli.File(a.Out.Stdout.Writer), cli.File(a.Out.Stderr.Writer)
	p.cmd.ExtraFiles = []*os.File{theirs}
	err = errors.Join(p.cmd.Start(), theirs.Close())
	given := context.AfterFunc(ctx, func() { _ = ours.Close() })
	defer given()
	var first reply
	in := gob.NewDecoder(ours)
	if err == nil {
		err = p.out.Encode(o)
	}
	if err == nil {
		err = in.Decode(&first)
	}
	if err != nil {
		err = fmt.Errorf("start the process that finds answers: %w", err)
	} else {
		err = first.failure()
	}
	if err != nil {
		_ = ours.Close() // it ends then
		if p.cmd.Process != nil {
			_ = p.cmd.Wait() // the reason is known
		}
		return nil, errors.Join(ctx.Err(), err)
	}
	fired, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.fired = cancel
	go p.listen(in)
	return &answers{asker: p, wait: first.Wait, socket: first.Socket, signals: p.signals, fired: fired, end: p.end, apart: true}, nil
}

// failure is the error that ended the other process.
func (r *reply) failure() error {
	if r.Yes {
		return nil
	}
	return &cli.ExitError{Code: r.Code, Err: errors.New(r.Error), Hint: r.Hint}
}

// listen hands on what the other process says, until it is gone.
func (p *apart) listen(in *gob.Decoder) {
	defer close(p.gone)
	for {
		var r reply
		if in.Decode(&r) != nil {
			return
		}
		switch r.What {
		case wordInterrupt:
			select {
			case p.signals <- os.Interrupt:
			default: // the command has not had the last one yet
			}
		case wordFired:
			p.fired()
		case wordAnswer:
			p.mu.Lock()
			to := p.open[r.ID]
			delete(p.open, r.ID)
			p.mu.Unlock()
			if to != nil {
				to <- r
			}
		}
	}
}

// ask returns the reply to a question. One that is given up is told so.
func (p *apart) ask(ctx context.Context, q question) (reply, error) {
	to := make(chan reply, 1)
	p.mu.Lock()
	p.last++
	q.ID = p.last
	p.open[q.ID] = to
	p.mu.Unlock()
	if err := p.send(q); err != nil {
		return reply{}, errApart
	}
	select {
	case r := <-to:
		return r, nil
	case <-p.gone:
		return reply{}, errApart
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.open, q.ID)
		p.mu.Unlock()
		_ = p.send(question{ID: q.ID, What: wordGiveUp}) // it is refused in any case
		return reply{}, ctx.Err()
	}
}

func (p *apart) send(q question) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	return p.out.Encode(q)
}

func (p *apart) told(ctx context.Context, q question) error {
	r, err := p.ask(ctx, q)
	if err == nil && !r.Yes {
		err = errors.New(r.Error)
	}
	return err
}

// Ask decides now, or waits for the manager where the view lets it.
func (p *apart) Ask(ctx context.Context, q sandboxfs.AskRequest) error {
	return p.told(ctx, question{What: wordAsk, Of: q})
}

// Record leaves a request behind, unless it is granted already.
func (p *apart) Record(ctx context.Context, q sandboxfs.AskRequest) error {
	return p.told(ctx, question{What: wordRecord, Of: q})
}

// Granted says whether to may have been granted.
func (p *apart) Granted(to access.Access) bool {
	r, err := p.ask(context.Background(), question{What: wordGranted, To: to})
	return err == nil && r.Yes
}

// end says how the command has ended, and waits for the other process.
func (p *apart) end(exit broker.Exit) error {
	err := p.told(context.Background(), question{What: wordEnd, Exit: exit})
	err = errors.Join(err, p.conn.Close())
	_ = p.cmd.Wait() // it has said what went wrong
	<-p.gone
	p.fired()
	return err
}

const (
	answersName = "answers"
	answersFD   = 3
)

// NewAnswers is how a run starts the process that finds answers for it. It is hidden.
func NewAnswers(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:    answersName,
		Short:  "Find answers for a run, for 'pinfold run'",
		Hidden: true,
		Args:   cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The run's end is this one's, whatever else is sent to all processes. It
			// is not ignored: what is started here would ignore it as well.
			signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			given := os.NewFile(answersFD, "answers")
			conn, err := net.FileConn(given) // a copy that no process inherits
			if err = errors.Join(err, given.Close()); err != nil {
				return cli.UsageError(errors.New("this command is pinfold's own"), "'pinfold run' starts a command")
			}
			defer func() { _ = conn.Close() }() // nothing is owed on it
			return answer(cmd.Context(), a, conn)
		},
	}
}

// answering is the other side: it asks whoever answers.
type answering struct {
	who *answers

	sending sync.Mutex
	out     *gob.Encoder

	mu   sync.Mutex
	open map[uint64]context.CancelFunc
}

// answer answers until the view's process has said how its command ended, or is gone:
// then nothing is said of it, as nothing would be had there been one process.
func answer(ctx context.Context, a *cli.App, conn net.Conn) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &answering{out: gob.NewEncoder(conn), open: map[uint64]context.CancelFunc{}}
	in := gob.NewDecoder(conn)
	var o asked
	if err := in.Decode(&o); err != nil {
		return err
	}
	questions := make(chan question)
	go func() {
		defer stop()
		for {
			var q question
			if in.Decode(&q) != nil {
				return
			}
			select {
			case questions <- q:
			case <-ctx.Done():
				return
			}
		}
	}()
	var err error
	if s.who, err = o.here(ctx, a); err != nil {
		var e *cli.ExitError
		failed := reply{What: wordReady, Error: err.Error(), Code: cli.ExitRunOwn}
		if errors.As(err, &e) {
			failed.Code, failed.Hint = e.Code, e.Hint
		}
		return s.send(failed)
	}
	if err := s.send(reply{What: wordReady, Yes: true, Socket: s.who.socket, Wait: s.who.wait}); err != nil {
		return err
	}
	go s.tell(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case q := <-questions:
			if q.What == wordEnd {
				return s.send(replyTo(q, s.who.end(q.Exit)))
			}
			s.take(ctx, q)
		}
	}
}

func replyTo(q question, err error) reply {
	if err != nil {
		return reply{ID: q.ID, What: wordAnswer, Error: err.Error()}
	}
	return reply{ID: q.ID, What: wordAnswer, Yes: true}
}

func (s *answering) send(r reply) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.out.Encode(r)
}

// take begins to answer a question.
func (s *answering) take(ctx context.Context, q question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.What == wordGiveUp {
		if over := s.open[q.ID]; over != nil {
			over()
		}
		return
	}
	one, over := context.WithCancel(ctx)
	s.open[q.ID] = over
	go func() {
		var r reply
		switch q.What {
		case wordAsk:
			r = replyTo(q, s.who.asker.Ask(one, q.Of))
		case wordRecord:
			r = replyTo(q, s.who.asker.Record(one, q.Of))
		case wordGranted:
			r = reply{ID: q.ID, What: wordAnswer, Yes: s.who.asker.Granted(q.To)}
		default:
			r = replyTo(q, errApart)
		}
		over()
		s.mu.Lock()
		delete(s.open, q.ID)
		s.mu.Unlock()
		_ = s.send(r) // nobody is there any more who would ask
	}()
}

// tell passes on what concerns the command itself.
func (s *answering) tell(ctx context.Context) {
	fired := s.who.fired.Done()
	for {
		what := wordInterrupt
		select {
		case <-ctx.Done():
			return
		case <-s.who.signals:
		case <-fired:
			what, fired = wordFired, nil
		}
		if s.send(reply{What: what}) != nil {
			return
		}
	}
}
