package fuseconn

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// recorder says what it was asked, and answers with something to recognize.
type recorder struct {
	fuse.RawFileSystem
	calls []string
	st    fuse.Status
	file  int // what is read
}

func (r *recorder) note(call string, h *fuse.InHeader, rest ...any) fuse.Status {
	r.calls = append(r.calls, fmt.Sprintf("%s node %d by %v: %+v", call, h.NodeId, h.Caller, rest))
	return r.st
}

func (r *recorder) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	out.NodeId, out.Size = 77, 78
	return r.note("lookup", h, name)
}

func (r *recorder) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.Ino, out.Mode = 5, 0o644
	return r.note("getattr", &in.InHeader, in.Flags(), in.Fh())
}

func (r *recorder) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	out.NodeId, out.Fh = 6, 7
	return r.note("create", &in.InHeader, in.Flags, in.Mode, in.Umask, in.OpenFlags, name)
}

func (r *recorder) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	out.NodeId = 8
	return r.note("mkdir", &in.InHeader, in.Mode, in.Umask, name)
}

func (r *recorder) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return r.note("unlink", h, name)
}

func (r *recorder) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return r.note("rmdir", h, name)
}

func (r *recorder) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	return r.note("rename", &in.InHeader, in.Newdir, in.Flags, from, to)
}

func (r *recorder) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.Fh, out.OpenFlags = 9, fuse.FOPEN_KEEP_CACHE
	return r.note("open", &in.InHeader, in.Flags, in.Mode)
}

func (r *recorder) OpenFile(in *fuse.OpenIn) (a Reply) {
	a.Status = r.Open(nil, in, &a.Open)
	return a
}

func (r *recorder) SetLkw(_ <-chan struct{}, in *fuse.LkIn) fuse.Status {
	return r.note("setlkw", &in.InHeader, in.Fh, in.Owner, in.Lk, in.LkFlags)
}

func (r *recorder) SetLk(_ <-chan struct{}, in *fuse.LkIn) fuse.Status {
	return r.note("setlk", &in.InHeader, in.Fh, in.Owner, in.Lk, in.LkFlags)
}

func (r *recorder) GetLk(_ <-chan struct{}, in *fuse.LkIn, out *fuse.LkOut) fuse.Status {
	out.Lk = fuse.FileLock{Start: 1, End: 2, Typ: unix.F_WRLCK, Pid: 3}
	return r.note("getlk", &in.InHeader, in.Fh, in.Owner, in.Lk, in.LkFlags)
}

func (r *recorder) LockFile(in *fuse.LkIn) Reply { return Reply{Status: r.SetLkw(nil, in)} }

func (r *recorder) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_CACHE_DIR
	return r.note("opendir", &in.InHeader, in.Flags, in.Mode)
}

func (r *recorder) ReleaseDir(in *fuse.ReleaseIn) {
	r.note("releasedir", &in.InHeader, in.Fh, in.Flags)
}

func (r *recorder) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	n, _ := unix.Pread(r.file, buf, int64(in.Offset))
	return fuse.ReadResultData(buf[:n]), r.noteRead(in)
}

func (r *recorder) ReadFile(in *fuse.ReadIn) (fd int, release func(), st fuse.Status) {
	return r.file, func() {}, r.noteRead(in)
}

func (r *recorder) noteRead(in *fuse.ReadIn) fuse.Status {
	return r.note("read", &in.InHeader, in.Fh, in.Offset, in.Flags, in.ReadFlags, in.LockOwner, in.Size)
}

func (r *recorder) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	return uint32(len(data)), r.note("write", &in.InHeader, in.Fh, in.Offset, in.Flags, in.WriteFlags, data)
}

func (r *recorder) Flush(_ <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	return r.note("flush", &in.InHeader, in.Fh, in.LockOwner)
}

func (r *recorder) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	r.note("release", &in.InHeader, in.Fh, in.Flags, in.ReleaseFlags, in.LockOwner)
}

func (r *recorder) GetXAttr(_ <-chan struct{}, h *fuse.InHeader, attr string, dest []byte) (uint32, fuse.Status) {
	return uint32(copy(dest, "value")), r.note("getxattr", h, attr, len(dest))
}

func (r *recorder) Forget(id, count uint64) {
	r.calls = append(r.calls, fmt.Sprintf("forget %d %d", id, count))
}

// newRecorded is a connection whose requests a recorder gets, after INIT.
func newRecorded(t *testing.T) (*Conn, *recorder) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	_, err = file.WriteString("what is read")
	require.NoError(t, err)
	fs := &recorder{RawFileSystem: fuse.NewDefaultRawFileSystem(), file: int(file.Fd())}
	quiet := log.New(testWriter{t}, "", 0)
	c := &Conn{h: fs, log: quiet, ps: fuse.NewProtocolServer(fs, &fuse.MountOptions{Logger: quiet})}
	c.loop = newLoop(c, NewServer(func(func()) {}))
	init := made(26, 0, func(b []byte) []byte {
		return binary.NativeEndian.AppendUint32(append(b, 7, 0, 0, 0), 41)
	}, make([]byte, 56))
	_, st := c.ps.HandleRequest([][]byte{init.in}, [][]byte{init.room})
	require.Equal(t, fuse.OK, st)
	return c, fs
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

// made is a request of which the header is filled in.
func made(op uint32, node uint64, args func([]byte) []byte, rest []byte) request {
	b := make([]byte, inHeaderSize)
	if args != nil {
		b = args(b)
	}
	b = append(b, rest...)
	h := (*fuse.InHeader)(unsafe.Pointer(&b[0]))
	h.Length, h.Opcode, h.Unique, h.NodeId = uint32(len(b)), op, 42, node
	h.Uid, h.Gid, h.Pid = 1000, 1001, 4711
	return request{in: b, room: make([]byte, 64<<10)}
}

// argumentSize is what stands between the header and the names or the data.
var argumentSize = map[uint32]int{
	opLookup: 0, opForget: 8, opGetattr: 16, opMkdir: 8, opUnlink: 0, opRmdir: 0, opRename: 8, opOpen: 8,
	opRead: 40, opWrite: 40, opRelease: 24, opGetxattr: 8, opFlush: 24, opCreate: 16, opBatchForget: 8, opRename2: 16,
	opOpendir: 8, opReleasedir: 24, opGetLk: 48, opSetLk: 48, opSetLkw: 48,
}

// What is decoded here means the same as what go-fuse decodes.
func TestDecodingIsLikeGoFuse(t *testing.T) {
	c, fs := newRecorded(t)
	random := rand.New(rand.NewPCG(1, 2))
	const rounds = 200
	for op, size := range argumentSize {
		for range rounds {
			args := make([]byte, size)
			for i := range args {
				args[i] = byte(random.Uint32())
			}
			rest := []byte("from\x00to\x00")
			switch op {
			case opWrite:
				binary.NativeEndian.PutUint32(args[16:], uint32(len(rest)))
			case opRead:
				binary.NativeEndian.PutUint32(args[16:], []uint32{0, 3, 4096}[random.IntN(3)])
				binary.NativeEndian.PutUint64(args[8:], random.Uint64N(20))
			case opGetxattr:
				binary.NativeEndian.PutUint32(args, []uint32{0, 1, 64}[random.IntN(3)])
			case opBatchForget:
				rest = make([]byte, 3*16)
				for i := range rest {
					rest[i] = byte(random.Uint32())
				}
				binary.NativeEndian.PutUint32(args, 3)
			}
			fs.st = []fuse.Status{fuse.OK, fuse.ENOENT, fuse.ERANGE}[random.IntN(3)]
			node := random.Uint64() >> 1
			ask := func() request { return made(op, node, func(b []byte) []byte { return append(b, args...) }, rest) }

			quick, plain := ask(), ask()
			for i := range quick.room {
				quick.room[i] = 0xaa // from the request before
			}
			fs.calls = nil
			size, left := c.decode(quick)
			require.False(t, left, "opcode %d", op)
			got := fs.calls
			fs.calls = nil
			want, st := c.ps.HandleRequest([][]byte{plain.in}, [][]byte{plain.room})
			require.Equal(t, fuse.OK, st)
			require.Equal(t, fs.calls, got, "opcode %d", op)
			require.NotEmpty(t, got, "opcode %d", op)
			require.Equal(t, plain.room[:want], quick.room[:size], "opcode %d", op)
		}
	}
}

// What is too short or lacks the end of a name is left to go-fuse, which knows
// what to answer, and what is made up by go-fuse as well; of the operations that
// go-fuse has not it is an error.
func TestUnusualRequests(t *testing.T) {
	c, fs := newRecorded(t)
	own := []uint32{opOpen, opSetLkw, opRead, opWrite}
	refused := func(q request) {
		t.Helper()
		_, left := c.decode(q)
		require.False(t, left, "opcode %d", q.op())
		require.Equal(t, fuse.EIO, fuse.Status(q.answered()))
	}
	for op, size := range argumentSize {
		switch short := made(op, 5, nil, make([]byte, max(size-1, 0))); {
		case slices.Contains(own, op):
			refused(short)
		case size > 0:
			_, left := c.decode(short)
			require.True(t, left, "opcode %d", op)
		}
	}
	for _, op := range own {
		extended := made(op, 5, nil, make([]byte, argumentSize[op]))
		(*fuse.InHeader)(unsafe.Pointer(&extended.in[0])).TotalExtlen = 1
		refused(extended)
	}
	longer := made(opWrite, 5, nil, make([]byte, 40))
	binary.NativeEndian.PutUint32(longer.in[inHeaderSize+16:], 1)
	refused(longer)
	for _, op := range []uint32{opLookup, opUnlink, opRmdir, opMkdir, opRename, opRename2, opCreate, opGetxattr} {
		args := make([]byte, argumentSize[op])
		_, left := c.decode(made(op, 5, nil, append(args, "endless"...)))
		require.True(t, left, "opcode %d", op)
		_, left = c.decode(made(op, RootID, nil, append(append([]byte{}, args...), PollName+"\x00to\x00"...)))
		require.True(t, left, "opcode %d", op)
	}
	_, left := c.decode(made(opGetattr, pollInode, nil, make([]byte, 16)))
	require.True(t, left)
	extended := made(opMkdir, 5, nil, append(make([]byte, 8), "name\x00"...))
	(*fuse.InHeader)(unsafe.Pointer(&extended.in[0])).TotalExtlen = 1
	_, left = c.decode(extended)
	require.True(t, left)
	read := made(opRead, 5, nil, make([]byte, 40))
	binary.NativeEndian.PutUint32(read.in[inHeaderSize+16:], uint32(len(read.room)))
	refused(read) // more than there is room for
	many := made(opBatchForget, 0, nil, make([]byte, 8+16))
	binary.NativeEndian.PutUint32(many.in[inHeaderSize:], 2)
	_, left = c.decode(many)
	require.True(t, left, "more than there are")
	require.Empty(t, fs.calls)
}

// An interrupt is not answered, and ends the wait that it is about.
func TestInterruptRequest(t *testing.T) {
	c, _ := newRecorded(t)
	ctx, end := c.Context(&fuse.InHeader{Unique: 99})
	defer end()
	size, left := c.decode(made(opInterrupt, 0, nil, binary.NativeEndian.AppendUint64(nil, 99)))
	require.False(t, left)
	require.Zero(t, size, "no answer")
	require.Equal(t, ErrInterrupted, context.Cause(ctx))
}

// The three operations that go-fuse has as well never get to the Handler by it.
func TestGoFuseHasTheRest(t *testing.T) {
	_, fs := newRecorded(t)
	all := rest{fs}
	require.Equal(t, fuse.EIO, all.Open(nil, &fuse.OpenIn{}, &fuse.OpenOut{}))
	require.Equal(t, fuse.EIO, all.SetLkw(nil, &fuse.LkIn{}))
	_, st := all.Read(nil, &fuse.ReadIn{}, nil)
	require.Equal(t, fuse.EIO, st)
	require.Empty(t, fs.calls)
}

// A bug in one request is an error for the process that made it, and the server lives on.
func TestPanic(t *testing.T) {
	c, _ := newRecorded(t)
	c.h = nil
	q := made(opUnlink, 5, nil, []byte("name\x00"))
	size, left := c.decode(q)
	require.False(t, left)
	require.Equal(t, outHeaderSize, size)
	require.Equal(t, fuse.EIO, fuse.Status(q.answered()))
}
