package sandboxfs

import (
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// SeekCompany has every leader bring itself together with who asks at each
// request. It returns how many have led so far, and how many answer that lead no
// more.
func (v *View) SeekCompany() (led func() int, answering func() int) {
	t, count := v.transport, new(atomic.Int32)
	t.company = company{}
	within := t.within
	t.within = func(lead func()) {
		count.Add(1)
		within(lead)
	}
	return func() int { return int(count.Load()) }, func() int { return int(t.answering.Load()) }
}

func TestCompanyIsSoughtWhileApart(t *testing.T) {
	c, now := newCompany(), time.Now()
	for range apartEnough {
		require.False(t, c.wanted(now), "one request is no reason")
		c.waited(40 * time.Microsecond)
	}
	require.True(t, c.wanted(now))
	require.False(t, c.wanted(now), "not twice for the same")
}

func TestCompanyIsNotSoughtWhileTogether(t *testing.T) {
	c, now := newCompany(), time.Now()
	for range 1000 {
		c.waited(40 * time.Microsecond)
		c.waited(time.Microsecond)
		c.waited(time.Microsecond)
		require.False(t, c.wanted(now), "mostly together")
	}
}

func TestCompanyIsNotSoughtForWhoHasNothingToAsk(t *testing.T) {
	c, now := newCompany(), time.Now()
	for range 1000 {
		c.waited(time.Millisecond)
		require.False(t, c.wanted(now))
	}
}

// In vain it is sought less and less often; once together, soon again.
func TestCompanyPauses(t *testing.T) {
	c, now := newCompany(), time.Now()
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

// slowForget takes longer than who answers is busy for company.
type slowForget struct {
	fuse.RawFileSystem
	ended time.Time
}

func (s *slowForget) Forget(_, _ uint64) {
	time.Sleep(2 * keepBusy)
	s.ended = time.Now()
}

// After an answer that took long nobody is kept busy: the next leader has been
// where it belongs for long.
func TestCompanyIsNotWaitedForAfterSlowAnswer(t *testing.T) {
	fs := &slowForget{}
	l := &leader{c: &connection{fs: fs}, t: newTransport(func(func()) {})}
	least := time.Hour
	for range 100 { // whatever else the machine does
		l.c.busy.Add(1)
		l.turn.Store(1)
		mine := l.joinCaller(made(opForget, 5, nil, make([]byte, 8)), 1)
		least = min(least, time.Since(fs.ended))
		require.False(t, mine)
	}
	require.Less(t, least, keepBusy/2)
}

// What nobody waits for is done before what is asked next.
func TestCompanyIsNotSoughtForWhoDoesNotWait(t *testing.T) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	c, _ := newRecorded(t)
	ended := make(chan struct{})
	c.file, c.fd, c.gone = os.NewFile(uintptr(ends[0]), "/dev/fuse"), ends[0], make(chan struct{})
	c.onEnd = func() { close(ended) }
	var led atomic.Int32
	tr := newTransport(func(lead func()) {
		led.Add(1)
		lead()
	})
	tr.company = company{} // wanted at each request
	tr.add(c)
	ask := func(op uint32) {
		_, err := unix.Write(ends[1], made(op, 5, nil, make([]byte, argumentSize[op])).in)
		require.NoError(t, err)
	}
	answered := func() {
		_, err := unix.Read(ends[1], make([]byte, 1024))
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
	require.NoError(t, unix.Close(ends[1]))
	<-ended
	require.EqualValues(t, 1+10, led.Load(), "one more for each that somebody waited for")
}
