package sandboxfs

import (
	"bytes"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
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
		t.Cleanup(func() { closeFD(fd) })
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

// viewOfOut is a view whose data goes through the server, and its write path on
// the host and inside.
func viewOfOut(t *testing.T) (v *View, on, in string) {
	t.Helper()
	root, mnt := t.TempDir(), t.TempDir()
	on, in = filepath.Join(root, "out"), filepath.Join(mnt, "out")
	require.NoError(t, os.Mkdir(on, 0o755))
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	v, err = New(r, Options{Logger: log.New(failing{t}, "", 0)})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, v.Close())
		require.NoError(t, r.Close())
	})
	require.NoError(t, v.Mount(mnt))
	return v, on, in
}

// Files that are written in pieces of all sizes, by several at once and with
// other requests between, are the same as those written to directly.
func TestLargeWrites(t *testing.T) {
	v, on, in := viewOfOut(t)
	direct := t.TempDir()
	sizes := []int{1, largeWrite - 1, largeWrite, largeWrite + 1, largeRequest - 1, largeRequest, largeRequest + 1, 1<<20 + 3}
	work := func(dir string, seed uint64) error {
		name := filepath.Join(dir, fmt.Sprint("file", seed))
		rnd := rand.New(rand.NewPCG(seed, 2))
		flags := os.O_RDWR | os.O_CREATE
		if seed%3 == 0 {
			flags |= os.O_APPEND
		}
		file, err := os.OpenFile(name, flags, 0o644)
		if err != nil {
			return err
		}
		defer file.Close()
		for i := range 60 {
			data, off := noise(sizes[rnd.IntN(len(sizes))], seed+uint64(i)), rnd.Int64N(2<<20)
			if flags&os.O_APPEND != 0 {
				_, err = file.Write(data)
			} else {
				_, err = file.WriteAt(data, off)
			}
			if err != nil {
				return err
			}
			switch rnd.IntN(4) {
			case 0:
				err = os.WriteFile(name+".small", data[:min(len(data), 9)], 0o644)
			case 1:
				err = file.Sync()
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	var all sync.WaitGroup
	for seed := range uint64(4) {
		require.NoError(t, work(direct, seed))
		all.Go(func() {
			if err := work(in, seed); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for seed := range uint64(4) {
		want, err := os.ReadFile(filepath.Join(direct, fmt.Sprint("file", seed)))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(on, fmt.Sprint("file", seed)))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "file %d", seed)
	}
	used := 0
	for _, p := range v.parts {
		p.conn.pipes.mu.Lock()
		used += len(p.conn.pipes.free)
		p.conn.pipes.mu.Unlock()
	}
	require.Positive(t, used, "through pipes")
}

// A system that refuses to splice from /dev/fuse costs no request.
func TestNoSplice(t *testing.T) {
	v, on, in := viewOfOut(t)
	for _, p := range v.parts {
		q, err := newPipe()
		require.NoError(t, err)
		q.r, q.w = q.w, q.r // EBADF
		p.conn.pipes.put(q)
	}
	data := noise(5*largeRequest, 1)
	require.NoError(t, os.WriteFile(filepath.Join(in, "file"), data, 0o644))
	got, err := os.ReadFile(filepath.Join(on, "file"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))
}

// failing fails the test with what is logged.
type failing struct{ t *testing.T }

func (f failing) Write(text []byte) (int, error) {
	f.t.Errorf("%s", text)
	return len(text), nil
}
