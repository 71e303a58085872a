package sandboxfs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// viewOfOut is the write path, on the host and inside, of a view whose data goes
// through the server.
func viewOfOut(t *testing.T) (on, in string) {
	t.Helper()
	root, mnt := t.TempDir(), t.TempDir()
	on, in = filepath.Join(root, "out"), filepath.Join(mnt, "out")
	require.NoError(t, os.Mkdir(on, 0o755))
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	v, err := New(r, Options{Logger: log.New(failing{t}, "", 0)})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, v.Close())
		require.NoError(t, r.Close())
	})
	require.NoError(t, v.Mount(mnt))
	return on, in
}

// Files that are written in pieces of all sizes, by several at once and with
// other requests between, are the same as those written to directly.
func TestLargeWrites(t *testing.T) {
	on, in := viewOfOut(t)
	direct := t.TempDir()
	sizes := []int{1, 4096, 64 << 10, fuseconn.MaxData - 1, fuseconn.MaxData, fuseconn.MaxData + 1, 1<<20 + 3}
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
}

// noise is data that is nowhere twice.
func noise(size int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// Files that are read in pieces of all sizes, also beyond their ends, by several
// at once, are as they are.
func TestLargeReads(t *testing.T) {
	on, in := viewOfOut(t)
	data := noise(2<<20+5, 1)
	name := filepath.Join("deep", "file")
	for _, dir := range []string{on, filepath.Dir(on)} { // of the write mount, and of the read-only one
		require.NoError(t, os.Mkdir(filepath.Join(dir, "deep"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	var all sync.WaitGroup
	for seed := range uint64(8) {
		path := filepath.Join(in, name)
		if seed%2 == 1 {
			path = filepath.Join(filepath.Dir(in), name)
		}
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, 3))
			for range 60 {
				flags := []int{os.O_RDONLY, os.O_RDONLY | unix.O_DIRECT}[rnd.IntN(2)]
				file, err := os.OpenFile(path, flags, 0)
				if err != nil {
					t.Error(err)
					return
				}
				off := rnd.IntN(len(data) + 1000)
				want := data[min(off, len(data)):]
				got := make([]byte, rnd.IntN(1<<20))
				n, err := file.ReadAt(got, int64(off))
				if err != nil && err != io.EOF {
					t.Error(err)
				}
				if !bytes.Equal(got[:n], want[:min(len(want), len(got))]) {
					t.Errorf("%d bytes at %d of %s: other data", len(got), off, path)
				}
				if err := file.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// A file that the host cuts off and writes again while it is read is read up to
// where it ended, never with another size than was announced.
func TestLargeReadsOfWhatIsTruncated(t *testing.T) {
	on, in := viewOfOut(t)
	data := noise(8*fuseconn.MaxData, 1)
	name := filepath.Join(on, "file")
	require.NoError(t, os.WriteFile(name, data, 0o644))
	done := make(chan struct{})
	var host sync.WaitGroup
	host.Go(func() {
		for i := int64(0); ; i = (i + 4099) % int64(len(data)) {
			select {
			case <-done:
				return
			default:
			}
			if err := os.Truncate(name, i); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	for range 100 {
		file, err := os.OpenFile(filepath.Join(in, "file"), os.O_RDONLY|unix.O_DIRECT, 0)
		require.NoError(t, err)
		got := make([]byte, len(data))
		n, err := io.ReadFull(file, got)
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			require.NoError(t, err)
		}
		for i, b := range got[:n] {
			if b != data[i] && b != 0 {
				require.Fail(t, "other data", "at %d of %d", i, n)
			}
		}
		require.NoError(t, file.Close())
	}
	close(done)
	host.Wait()
}

// beneath is a file of a file system beneath. It says that it has 64 KiB, has
// more, all of them others at each look, or fails.
type beneath struct {
	fs.Inode
	fails syscall.Errno
	looks atomic.Uint32
}

func (b *beneath) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = 0o644, 64<<10
	return fs.OK
}

func (b *beneath) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, fs.OK
}

func (b *beneath) Read(_ context.Context, _ fs.FileHandle, buf []byte, _ int64) (fuse.ReadResult, syscall.Errno) {
	return fuse.ReadResultData(bytes.Repeat([]byte{byte(b.looks.Add(1))}, len(buf))), b.fails
}

// beneathRoot has such files, by name.
type beneathRoot struct {
	fs.Inode
	files map[string]*beneath
}

func (r *beneathRoot) OnAdd(ctx context.Context) {
	for name, file := range r.files {
		r.AddChild(name, r.NewPersistentInode(ctx, file, fs.StableAttr{Mode: unix.S_IFREG}), false)
	}
}

// A large read of a file system beneath that lies gives what is there now, all of
// it, and the error that that answers with.
func TestLargeReadsOfFUSEBeneath(t *testing.T) {
	root := &beneathRoot{files: map[string]*beneath{
		"there": {}, "gone": {fails: unix.ENOENT}, "unplugged": {fails: unix.ENODEV}, "bad": {fails: unix.EIO}}}
	dir, mnt := t.TempDir(), t.TempDir()
	on := filepath.Join(dir, "out")
	require.NoError(t, os.Mkdir(on, 0o755))
	server, err := fs.Mount(on, root, &fs.Options{MountOptions: fuse.MountOptions{DirectMount: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Unmount()) })
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"out"}})
	require.NoError(t, err)
	v, err := New(r, Options{Logger: log.New(failing{t}, "", 0)})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, v.Close())
		require.NoError(t, r.Close())
	})
	require.NoError(t, v.Mount(mnt))

	read := func(name string) (int, byte, error) {
		fd, err := unix.Open(filepath.Join(mnt, "out", name), unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		defer closeFD(fd)
		buf := make([]byte, fuseconn.MaxData)
		n, err := unix.Pread(fd, buf, 0)
		return n, buf[0], err
	}
	for last := byte(0); last < 10; {
		n, look, err := read("there")
		require.NoError(t, err)
		require.Equal(t, fuseconn.MaxData, n)
		require.Greater(t, look, last)
		last = look
	}
	for name, file := range root.files {
		if file.fails != 0 {
			_, _, err := read(name)
			require.ErrorIs(t, err, file.fails)
		}
	}
}

// failing fails the test with what is logged.
type failing struct{ t *testing.T }

func (f failing) Write(text []byte) (int, error) {
	f.t.Errorf("%s", text)
	return len(text), nil
}
