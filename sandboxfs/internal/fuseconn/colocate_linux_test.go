package fuseconn

import (
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestColocatesWhileApart(t *testing.T) {
	c, now := newColocation(), time.Now()
	for range apartEnough {
		require.False(t, c.wanted(now), "one request is no reason")
		c.waited(40 * time.Microsecond)
	}
	require.True(t, c.wanted(now))
	require.False(t, c.wanted(now), "not twice for the same")
}

func TestNoColocationWhileTogether(t *testing.T) {
	c, now := newColocation(), time.Now()
	for range 1000 {
		c.waited(40 * time.Microsecond)
		c.waited(time.Microsecond)
		c.waited(time.Microsecond)
		require.False(t, c.wanted(now), "mostly together")
	}
}

func TestNoColocationWithoutRequests(t *testing.T) {
	c, now := newColocation(), time.Now()
	for range 1000 {
		c.waited(time.Millisecond)
		require.False(t, c.wanted(now))
	}
}

// In vain it is tried less and less often; once together, soon again.
func TestColocationPauses(t *testing.T) {
	c, now := newColocation(), time.Now()
	beApart := func() {
		for range apartEnough {
			c.waited(40 * time.Microsecond)
		}
	}
	for pause := leastPause; pause <= mostPause; pause *= 2 {
		beApart()
		require.True(t, c.wanted(now))
		beApart()
		require.False(t, c.wanted(now.Add(pause-1)), "pause of %v", pause)
		now = now.Add(pause)
	}
	require.True(t, c.wanted(now))
	for range togetherEnough {
		c.waited(time.Microsecond)
	}
	now = now.Add(mostPause)
	beApart()
	require.True(t, c.wanted(now))
	beApart()
	require.True(t, c.wanted(now.Add(leastPause)))
}

// slowForget takes longer than the last reader loop is kept busy.
type slowForget struct {
	*recorder
	ended time.Time
}

func (s *slowForget) Forget(_, _ uint64) {
	time.Sleep(2 * keepBusy)
	s.ended = time.Now()
}

// After an answer that took long nothing is kept busy: the next reader loop has
// been where it belongs for long.
func TestColocationAfterSlowAnswer(t *testing.T) {
	c, rec := newRecorded(t)
	fs := &slowForget{recorder: rec}
	c.h = fs
	l := newLoop(c, NewServer(func(func()) {}))
	least := time.Hour
	for range 100 { // whatever else the machine does
		l.c.busy.Add(1)
		l.turn.Store(1)
		still := l.answerBeside(made(opForget, 5, nil, make([]byte, 8)), 1)
		least = min(least, time.Since(fs.ended))
		require.False(t, still)
	}
	require.Less(t, least, keepBusy/2)
}

// serve serves a connection on a socket, whose other end is in the kernel's
// place. The test closes it, which ends the connection.
func serve(t *testing.T, server *Server, c *Conn) (kernel int, ended chan struct{}) {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	ended = make(chan struct{})
	c.file, c.fd, c.ended = os.NewFile(uintptr(ends[0]), "/dev/fuse"), ends[0], func() { close(ended) }
	c.loop = newLoop(c, server)
	c.Serve()
	return ends[1], ended
}

// A request that nobody waits for is done before what is asked next.
func TestNoColocationForWhatIsNotAwaited(t *testing.T) {
	c, _ := newRecorded(t)
	var loops atomic.Int32
	server := NewServer(func(loop func()) {
		loops.Add(1)
		loop()
	})
	server.ColocateAlways()
	kernel, ended := serve(t, server, c)
	ask := func(op uint32) {
		_, err := unix.Write(kernel, made(op, 5, nil, make([]byte, argumentSize[op])).in)
		require.NoError(t, err)
	}
	answered := func() {
		_, err := unix.Read(kernel, make([]byte, 1024))
		require.NoError(t, err)
	}
	for range 10 {
		ask(opForget)
		ask(opRelease)
		answered()
		ask(opReleasedir)
		answered()
	}
	for range 10 {
		ask(opGetattr)
		answered()
	}
	require.NoError(t, unix.Close(kernel))
	<-ended
	require.EqualValues(t, 1+10, loops.Load(), "one more for each that somebody waited for")
}
