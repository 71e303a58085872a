package sandboxfs

import (
	"encoding/binary"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
)

// recorder says what it was asked, and answers with something to recognize.
type recorder struct {
	fuse.RawFileSystem
	calls []string
	st    fuse.Status
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

func (r *recorder) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_CACHE_DIR
	return r.note("opendir", &in.InHeader, in.Flags, in.Mode)
}

func (r *recorder) ReleaseDir(in *fuse.ReleaseIn) {
	r.note("releasedir", &in.InHeader, in.Fh, in.Flags)
}

func (r *recorder) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	data := []byte("data from elsewhere")
	if in.Offset%2 == 0 {
		data = buf[:copy(buf, "data in place")]
	}
	data = data[:min(len(data), len(buf))]
	return fuse.ReadResultData(data), r.note("read", &in.InHeader, in.Fh, in.Offset, in.Flags, in.ReadFlags, in.LockOwner, len(buf))
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
func newRecorded(t *testing.T) (*connection, *recorder) {
	fs := &recorder{RawFileSystem: fuse.NewDefaultRawFileSystem()}
	quiet := log.New(testWriter{t}, "", 0)
	c := &connection{fs: fs, log: quiet, ps: fuse.NewProtocolServer(fs, &fuse.MountOptions{Logger: quiet})}
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
	opOpendir: 8, opReleasedir: 24,
}

// What is decoded here means the same as what go-fuse decodes.
func TestQuickIsLikeGoFuse(t *testing.T) {
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
			size, done := c.quick(quick)
			require.True(t, done, "opcode %d", op)
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
// what to answer, and what is made up by go-fuse as well.
func TestQuickLeavesTheUnusual(t *testing.T) {
	c, fs := newRecorded(t)
	for op, size := range argumentSize {
		if size > 0 {
			_, done := c.quick(made(op, 5, nil, make([]byte, size-1)))
			require.False(t, done, "opcode %d", op)
		}
	}
	for _, op := range []uint32{opLookup, opUnlink, opRmdir, opMkdir, opRename, opRename2, opCreate, opGetxattr} {
		args := make([]byte, argumentSize[op])
		_, done := c.quick(made(op, 5, nil, append(args, "endless"...)))
		require.False(t, done, "opcode %d", op)
		_, done = c.quick(made(op, rootID, nil, append(append([]byte{}, args...), pollName+"\x00to\x00"...)))
		require.False(t, done, "opcode %d", op)
	}
	_, done := c.quick(made(opGetattr, pollInode, nil, make([]byte, 16)))
	require.False(t, done)
	extended := made(opMkdir, 5, nil, append(make([]byte, 8), "name\x00"...))
	(*fuse.InHeader)(unsafe.Pointer(&extended.in[0])).TotalExtlen = 1
	_, done = c.quick(extended)
	require.False(t, done)
	read := made(opRead, 5, nil, make([]byte, 40))
	binary.NativeEndian.PutUint32(read.in[inHeaderSize+16:], uint32(len(read.room)))
	_, done = c.quick(read)
	require.False(t, done, "more than there is room for")
	many := made(opBatchForget, 0, nil, make([]byte, 8+16))
	binary.NativeEndian.PutUint32(many.in[inHeaderSize:], 2)
	_, done = c.quick(many)
	require.False(t, done, "more than there are")
	require.Empty(t, fs.calls)
}

// An interrupt is for who waits; go-fuse knows of those.
func TestQuickInterrupt(t *testing.T) {
	c, _ := newRecorded(t)
	interrupt := made(opInterrupt, 0, nil, binary.NativeEndian.AppendUint64(nil, 99))
	size, done := c.quick(interrupt)
	require.True(t, done)
	require.Zero(t, size, "no answer")
	c.waits.Store(uint64(99), nil)
	_, done = c.quick(interrupt)
	require.False(t, done)
}

// A bug in one request is an error for who made it, and the server lives on.
func TestQuickPanic(t *testing.T) {
	c, _ := newRecorded(t)
	c.fs = nil
	q := made(opUnlink, 5, nil, []byte("name\x00"))
	size, done := c.quick(q)
	require.True(t, done)
	require.Equal(t, outHeaderSize, size)
	require.Equal(t, fuse.EIO, fuse.Status(q.answered()))
}
