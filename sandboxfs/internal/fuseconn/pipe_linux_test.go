package fuseconn

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// noise is data that is nowhere twice.
func noise(size int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// filled is a pipe with data in it, and as much room.
func filled(t *testing.T, p *pipes, data []byte) *pipe {
	t.Helper()
	q := p.get()
	require.NotNil(t, q)
	size, err := unix.Write(q.w, data)
	require.NoError(t, err)
	require.Len(t, data, size)
	q.left, q.room = size, make([]byte, size)
	return q
}

// What is in a pipe is written where and as Pwrite would, also where the kernel
// splices nothing, and leaves the pipe empty for the next.
func TestPipePwrite(t *testing.T) {
	var p pipes
	defer p.close()
	data := noise(200<<10, 1)
	open := func(name string, flags int) int {
		fd, err := unix.Open(name, flags|unix.O_CREAT|unix.O_CLOEXEC, 0o644)
		require.NoError(t, err)
		t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	for name, test := range map[string]struct {
		flags int
		atEnd bool
		want  []byte
	}{
		"at an offset":          {unix.O_RDWR, false, append([]byte("old"), data...)},
		"at the end":            {unix.O_RDWR, true, append([]byte("old and more"), data...)},
		"not to be spliced to":  {unix.O_RDWR | unix.O_APPEND, false, append([]byte("old and more"), data...)},
		"not to be written to":  {unix.O_RDONLY, false, []byte("old and more")},
		"at the end, read-only": {unix.O_RDONLY, true, []byte("old and more")},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(path, []byte("old and more"), 0o644))
			q := filled(t, &p, data)
			size, err := q.pwrite(open(path, test.flags), 3, test.atEnd)
			if test.flags == unix.O_RDONLY {
				require.ErrorIs(t, err, unix.EBADF)
				require.Zero(t, size)
			} else {
				require.NoError(t, err)
				require.Len(t, data, size)
			}
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, bytes.Equal(test.want, got))
			require.Zero(t, q.left)
			p.put(q)
			require.Len(t, p.free, 1)
		})
	}
	q := filled(t, &p, data)
	size, err := q.pwrite(open("/dev/full", unix.O_WRONLY), 0, false)
	require.ErrorIs(t, err, unix.ENOSPC)
	require.Zero(t, size)
	p.put(q)

	q = filled(t, &p, data)
	p.put(q) // by an answer that did not come to write
	require.Empty(t, p.free)
	_, err = unix.FcntlInt(uintptr(q.r), unix.F_GETFD, 0)
	require.ErrorIs(t, err, unix.EBADF, "what is left in it is not for the next")
}

// Without the right to a large pipe there is none, and it is not tried again.
func TestNoPipe(t *testing.T) {
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 0
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &none))
	var p pipes
	q := p.get()
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	require.Nil(t, q)
	require.Nil(t, p.get())
	fresh := pipes{}
	defer fresh.close()
	fresh.put(fresh.get())
	require.Len(t, fresh.free, 1)
}

// What is taken from a file comes out again behind its head, and what the file
// does not have is told.
func TestPipeTake(t *testing.T) {
	data := noise(200<<10, 1)
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	var p pipes
	defer p.close()
	for _, off := range []int{0, 1, 100 << 10} {
		q := p.get()
		require.NotNil(t, q)
		require.NoError(t, q.take([]byte("head"), fd, int64(off), len(data)-off))
		got := make([]byte, q.left)
		require.NoError(t, q.read(got))
		require.True(t, bytes.Equal(append([]byte("head"), data[off:]...), got))
		p.put(q)
	}
	q := p.get()
	require.ErrorIs(t, q.take([]byte("head"), fd, 1, len(data)), io.ErrUnexpectedEOF)
	require.Equal(t, len("head")+len(data)-1, q.left)
	p.put(q)
	require.Empty(t, p.free, "what is left in it is not for the next")
	q = p.get()
	require.ErrorIs(t, q.take([]byte("head"), -1, 0, 1), unix.EBADF)
	p.put(q)
}

// A system that refuses to splice from /dev/fuse, or to it, costs no request.
func TestNoSplice(t *testing.T) {
	c, fs := newRecorded(t)
	data := noise(largeData, 1)
	_, err := unix.Pwrite(fs.file, data, 0)
	require.NoError(t, err)
	unfillable, err := newPipe()
	require.NoError(t, err)
	unfillable.r, unfillable.w = unfillable.w, unfillable.r // EBADF
	c.pipes.put(unfillable)
	c.large.Store(true)
	kernel, ended := serve(t, NewServer(func(loop func()) { loop() }), c)
	ask := func(op uint32, rest ...byte) []byte {
		q := made(op, 5, nil, append(make([]byte, 40), rest...))
		binary.NativeEndian.PutUint32(q.in[inHeaderSize+16:], largeData)
		_, err := unix.Write(kernel, q.in)
		require.NoError(t, err)
		answer := make([]byte, 2*largeData)
		size, err := unix.Read(kernel, answer)
		require.NoError(t, err)
		require.Zero(t, request{room: answer}.answered())
		return answer[outHeaderSize:size]
	}
	for range 3 {
		require.EqualValues(t, largeData, binary.NativeEndian.Uint32(ask(opWrite, data...)))
	}
	require.Len(t, fs.calls, 3)
	ask(opGetattr) // after which no large write is expected, and no pipe in use
	require.Equal(t, 1, c.Stats().Pipes, "the same one")

	ungiving, err := newPipe()
	require.NoError(t, err)
	defer unix.Close(ungiving.r)
	ungiving.r, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0) // EINVAL for what is to come out
	require.NoError(t, err)
	c.pipes.close()
	c.pipes.put(ungiving)
	require.False(t, c.Stats().Unspliced)
	for range 3 {
		require.True(t, bytes.Equal(data, ask(opRead)))
		require.True(t, c.Stats().Unspliced, "and is not tried again")
	}
	require.NoError(t, unix.Close(kernel))
	<-ended
}
