package fuseconn

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Writes to a slow disk do not each keep others waiting for the watchdog: only
// the first does.
func TestWriteBesideAnotherHandsOver(t *testing.T) {
	c, fs := newRecorded(t)
	started := make(chan struct{}, 1)
	l := newLoop(c, NewServer(func(func()) { started <- struct{}{} }))
	c.loop = l
	write := func(unique uint64) (turn uint64) {
		q := made(opWrite, 5, nil, append(make([]byte, 40), "data"...))
		binary.NativeEndian.PutUint32(q.in[inHeaderSize+16:], 4)
		binary.NativeEndian.PutUint64(q.in[8:], unique)
		l.unique.Store(unique)
		l.turn.Store(1)
		_, left := c.decode(q)
		require.False(t, left)
		require.Zero(t, q.answered())
		return l.turn.Load()
	}
	require.EqualValues(t, 1, write(1), "alone it stays the reader loop")
	c.writing.Add(1) // one that takes long
	require.EqualValues(t, 2, write(2))
	<-started
	c.writing.Add(-1)
	require.EqualValues(t, 1, write(3))
	require.Empty(t, started)
	require.Len(t, fs.calls, 3)
}

// Reads from a file system that cannot say whether they wait for a disk stay in
// the reader loop as long as those before took no time.
func TestReadsThatMayWait(t *testing.T) {
	var s slowReads
	require.False(t, s.begin())
	require.True(t, s.begin(), "beside one that is not done")
	s.end(0)
	s.end(longRead)
	require.False(t, s.begin())
	s.end(longRead + 1)
	for range waryFor {
		require.True(t, s.begin())
		s.end(0)
	}
	require.False(t, s.begin(), "is tried again")
	s.end(0)
}

// What is read from such a file system is what is there, and whether it is one
// the first read finds out.
func TestReadWithoutNowait(t *testing.T) {
	c := &Conn{}
	c.loop = newLoop(c, NewServer(func(func()) { require.Fail(t, "another reader loop was started") }))
	file := filepath.Join("/dev/shm", fmt.Sprint("pinfold-test-", os.Getpid()))
	fd, err := unix.Open(file, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	require.NoError(t, err)
	require.NoError(t, os.Remove(file))
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte("content"))
	require.NoError(t, err)
	buf := make([]byte, 16)
	_, now := unix.Preadv2(fd, [][]byte{buf}, 0, unix.RWF_NOWAIT) // tmpfs cannot in Linux 6.18
	for off, want := range []string{"content", "ontent", "ntent"} {
		n, err := c.pread(0, fd, buf, int64(off))
		require.NoError(t, err)
		require.Equal(t, want, string(buf[:n]))
		require.Equal(t, now == unix.EOPNOTSUPP, c.slowReads.needed.Load())
	}
}

// What is answered later holds up no other request, ends with an interrupt, and
// is answered once.
func TestAnswerLater(t *testing.T) {
	c, fs := newRecorded(t)
	asked, given := make(chan struct{}), make(chan Reply)
	c.h = &waiting{recorder: fs, later: func(ctx context.Context) Reply {
		asked <- struct{}{}
		select {
		case <-ctx.Done():
			return Reply{Status: fuse.EINTR}
		case r := <-given:
			return r
		}
	}}
	kernel, ended := serve(t, NewServer(func(loop func()) { loop() }), c)
	ask := func(unique uint64, op uint32, args ...byte) {
		q := made(op, 5, nil, args)
		binary.NativeEndian.PutUint64(q.in[8:], unique)
		_, err := unix.Write(kernel, q.in)
		require.NoError(t, err)
	}
	answer := func() (q request, size int) {
		q = request{room: make([]byte, 1024)}
		size, err := unix.Read(kernel, q.room)
		require.NoError(t, err)
		return q, size
	}
	is := func(q request) uint64 { return binary.NativeEndian.Uint64(q.room[8:]) }
	for unique := uint64(1); unique <= 3; unique++ {
		ask(unique, opOpen, make([]byte, 8)...)
		<-asked
	}
	ask(9, opGetattr, make([]byte, 16)...)
	q, _ := answer()
	require.EqualValues(t, 9, is(q), "not held up")

	ask(0, opInterrupt, 2, 0, 0, 0, 0, 0, 0, 0)
	q, _ = answer()
	require.EqualValues(t, 2, is(q))
	require.Equal(t, fuse.EINTR, fuse.Status(q.answered()))

	given <- Reply{Open: fuse.OpenOut{Fh: 77}}
	q, size := answer()
	require.Zero(t, q.answered())
	require.Equal(t, outHeaderSize+16, size)
	require.EqualValues(t, 77, binary.NativeEndian.Uint64(q.room[outHeaderSize:]))

	require.NoError(t, unix.Close(kernel)) // which ends the third
	<-ended
}

// waiting answers opens later.
type waiting struct {
	*recorder
	later func(ctx context.Context) Reply
}

func (w *waiting) OpenFile(*fuse.OpenIn) Reply { return Reply{Later: w.later} }
