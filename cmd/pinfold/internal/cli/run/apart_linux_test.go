package run

import (
	"context"
	"encoding/gob"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// someone answers by what is asked about.
type someone struct{ waits chan error }

func (s someone) Ask(ctx context.Context, q sandboxfs.AskRequest) error {
	switch q.Accesses[0].Resource {
	case "yes":
		return nil
	case "silent":
		return errors.New("")
	case "waits":
		<-ctx.Done()
		s.waits <- ctx.Err()
		return nil // too late
	}
	return errors.New("no: " + q.Program)
}

func (s someone) Record(ctx context.Context, q sandboxfs.AskRequest) error { return s.Ask(ctx, q) }

func (s someone) Granted(to access.Access) bool { return to.Resource == "yes" }

// between connects both sides.
func between(t *testing.T, who *answers, fired context.CancelFunc) (*apart, net.Conn) {
	ours, theirs := net.Pipe()
	p := &apart{conn: ours, out: gob.NewEncoder(ours), gone: make(chan struct{}), open: map[uint64]chan reply{}, signals: make(chan os.Signal, 1)}
	p.fired = fired
	s := &answering{who: who, out: gob.NewEncoder(theirs), open: map[uint64]context.CancelFunc{}}
	go p.listen(gob.NewDecoder(ours))
	go func() {
		in := gob.NewDecoder(theirs)
		for {
			var q question
			if in.Decode(&q) != nil {
				return
			}
			s.take(t.Context(), q)
		}
	}()
	go s.tell(t.Context())
	t.Cleanup(func() {
		require.NoError(t, errors.Join(ours.Close(), theirs.Close()))
		<-p.gone
	})
	return p, theirs
}

func about(place string) sandboxfs.AskRequest {
	return sandboxfs.AskRequest{Accesses: []access.Access{{Action: access.FSWrite, Resource: place}}, Program: "\xff\x00sh"}
}

// TestApart: an answer from another process is what was answered, and anything else
// than a yes is a no: a refusal without words, one that was given up, and no process.
func TestApart(t *testing.T) {
	who := someone{waits: make(chan error, 1)}
	signals := make(chan os.Signal)
	fires, fire := context.WithCancel(t.Context())
	fired, told := context.WithCancel(t.Context())
	p, theirs := between(t, &answers{asker: who, signals: signals, fired: fires}, told)
	for _, ask := range []func(context.Context, sandboxfs.AskRequest) error{p.Ask, p.Record} {
		require.NoError(t, ask(t.Context(), about("yes")))
		require.EqualError(t, ask(t.Context(), about("other")), "no: \xff\x00sh")
		require.Error(t, ask(t.Context(), about("silent")))
	}
	require.True(t, p.Granted(about("yes").Accesses[0]))
	require.False(t, p.Granted(about("other").Accesses[0]))

	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, stop)
	require.ErrorIs(t, p.Ask(ctx, about("waits")), context.Canceled)
	require.ErrorIs(t, <-who.waits, context.Canceled, "it is given up there, too")

	signals <- os.Interrupt
	require.Equal(t, os.Interrupt, <-p.signals)
	fire()
	<-fired.Done()

	asked := make(chan error)
	go func() { asked <- p.Ask(t.Context(), about("waits")) }()
	require.NoError(t, theirs.Close())
	require.ErrorIs(t, <-asked, errApart, "who answers has ended")
	require.ErrorIs(t, p.Ask(t.Context(), about("yes")), errApart)
	require.False(t, p.Granted(about("yes").Accesses[0]))
}
