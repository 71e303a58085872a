package sandboxfs

import (
	"bytes"
	"encoding/binary"
	"runtime/debug"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// The requests that come by far most often are decoded here, in place and
// without memory of their own. go-fuse, which has the rest, takes about 1 µs
// and 1 KiB for each, a fifth of what a small one costs altogether.

// See enum fuse_opcode in linux/fuse.h.
const (
	opLookup      = 1
	opForget      = 2
	opGetattr     = 3
	opMkdir       = 9
	opUnlink      = 10
	opRmdir       = 11
	opRename      = 12
	opOpen        = 14
	opRead        = 15
	opWrite       = 16
	opRelease     = 18
	opGetxattr    = 22
	opFlush       = 25
	opOpendir     = 27
	opReleasedir  = 29
	opCreate      = 35
	opBatchForget = 42
	opRename2     = 45
)

// pollInode is the node id of the file that go-fuse makes up (pollName).
const pollInode = ^uint64(0)

// forgetOne is struct fuse_forget_one, of which a batch has many.
type forgetOne struct{ id, count uint64 }

// batchForgetIn is what stands before them.
type batchForgetIn struct {
	fuse.InHeader
	count, _ uint32
}

// renameIn is struct fuse_rename_in.
type renameIn struct {
	fuse.InHeader
	newDir uint64
}

// quick answers a request of those, and reports whether it did. Anything that
// looks unusual is left to go-fuse.
func (c *connection) quick(q request) (size int, done bool) {
	h := (*fuse.InHeader)(unsafe.Pointer(&q.in[0]))
	if h.TotalExtlen != 0 || h.NodeId == pollInode {
		return 0, false
	}
	defer func() {
		if r := recover(); r != nil {
			c.log.Printf("opcode %d: bug: %v\n%s", q.op(), r, debug.Stack())
			size, done = q.fail(fuse.EIO), true
		}
	}()
	var st fuse.Status
	switch q.op() {
	case opLookup, opUnlink, opRmdir:
		name, _, ok := q.name(inHeaderSize)
		if !ok {
			return 0, false
		}
		switch q.op() {
		case opLookup:
			out := answerOf[fuse.EntryOut](q, &size)
			st = c.fs.Lookup(nil, h, name, out)
		case opUnlink:
			st = c.fs.Unlink(nil, h, name)
		default:
			st = c.fs.Rmdir(nil, h, name)
		}
	case opGetattr:
		in := argsOf[fuse.GetAttrIn](q)
		if in == nil {
			return 0, false
		}
		st = c.fs.GetAttr(nil, in, answerOf[fuse.AttrOut](q, &size))
	case opCreate:
		in := argsOf[fuse.CreateIn](q)
		name, _, ok := q.name(int(unsafe.Sizeof(*in)))
		if !ok {
			return 0, false
		}
		st = c.fs.Create(nil, in, name, answerOf[fuse.CreateOut](q, &size))
	case opMkdir:
		in := argsOf[fuse.MkdirIn](q)
		name, _, ok := q.name(int(unsafe.Sizeof(*in)))
		if !ok {
			return 0, false
		}
		st = c.fs.Mkdir(nil, in, name, answerOf[fuse.EntryOut](q, &size))
	case opRename, opRename2:
		return c.quickRename(q)
	case opOpen, opOpendir:
		in := argsOf[fuse.OpenIn](q)
		if in == nil {
			return 0, false
		}
		open := c.fs.Open
		if q.op() == opOpendir {
			open = c.fs.OpenDir
		}
		st = open(nil, in, answerOf[fuse.OpenOut](q, &size))
	case opRead:
		in := argsOf[fuse.ReadIn](q)
		if in == nil || int(in.Size) > len(q.room)-outHeaderSize {
			return 0, false
		}
		if size, done, st = c.readFile(q, in); done {
			return 0, true
		}
	case opWrite:
		in := argsOf[fuse.WriteIn](q)
		if in == nil {
			return 0, false
		}
		out := answerOf[fuse.WriteOut](q, &size)
		if q.data != nil {
			out.Size, st = c.piped.WritePipe(in, q.data)
			break
		}
		data := q.in[unsafe.Sizeof(*in):]
		if !q.isWrite(len(data)) {
			return 0, false
		}
		c.large.Store(len(data) >= largeData && c.piped != nil)
		out.Size, st = c.fs.Write(nil, in, data)
	case opFlush:
		in := argsOf[fuse.FlushIn](q)
		if in == nil {
			return 0, false
		}
		st = c.fs.Flush(nil, in)
	case opRelease:
		in := argsOf[fuse.ReleaseIn](q)
		if in == nil {
			return 0, false
		}
		c.fs.Release(nil, in)
	case opReleasedir:
		in := argsOf[fuse.ReleaseIn](q)
		if in == nil {
			return 0, false
		}
		c.fs.ReleaseDir(in)
	case opGetxattr:
		return c.quickGetxattr(q)
	case opForget:
		in := argsOf[fuse.ForgetIn](q)
		if in == nil {
			return 0, false
		}
		c.fs.Forget(in.NodeId, in.Nlookup)
		return 0, true
	case opBatchForget:
		return 0, c.forgetMany(q)
	case opInterrupt:
		// Only who waits can be interrupted. An answer that the request is not
		// known would have the kernel ask again and again until it is done.
		unique, ok := q.interrupted()
		_, waits := c.waits.Load(unique)
		if ok && !waits && c.asks {
			c.interrupts.interrupt(unique)
		}
		return 0, ok && !waits
	default:
		return 0, false
	}
	return q.finish(size, st), true
}

func (c *connection) quickRename(q request) (size int, done bool) {
	old := argsOf[renameIn](q)
	if old == nil {
		return 0, false
	}
	in := fuse.RenameIn{InHeader: old.InHeader, Newdir: old.newDir}
	at := int(unsafe.Sizeof(*old))
	if q.op() == opRename2 {
		with := argsOf[fuse.RenameIn](q)
		if with == nil {
			return 0, false
		}
		in, at = *with, int(unsafe.Sizeof(*with))
	}
	from, at, ok := q.name(at)
	to, _, ok2 := q.name(at)
	if !ok || !ok2 {
		return 0, false
	}
	return q.finish(0, c.fs.Rename(nil, &in, from, to)), true
}

// quickGetxattr answers with the size if no room is offered, else with the value.
func (c *connection) quickGetxattr(q request) (size int, done bool) {
	in := argsOf[fuse.GetXAttrIn](q)
	attr, _, ok := q.name(int(unsafe.Sizeof(*in)))
	if !ok || int(in.Size) > len(q.room)-outHeaderSize {
		return 0, false
	}
	if in.Size > 0 {
		n, st := c.fs.GetXAttr(nil, &in.InHeader, attr, q.room[outHeaderSize:][:in.Size])
		return q.finish(int(n), st), true
	}
	out := answerOf[fuse.GetXAttrOut](q, &size)
	var st fuse.Status
	out.Size, st = c.fs.GetXAttr(nil, &in.InHeader, attr, nil)
	if st == fuse.Status(unix.ERANGE) {
		st = fuse.OK // nothing was to be filled
	}
	return q.finish(size, st), true
}

func (c *connection) forgetMany(q request) (done bool) {
	in := argsOf[batchForgetIn](q)
	if in == nil || in.count == 0 {
		return false
	}
	all := q.in[unsafe.Sizeof(*in):]
	if uint64(in.count)*uint64(unsafe.Sizeof(forgetOne{})) > uint64(len(all)) {
		return false
	}
	for _, f := range unsafe.Slice((*forgetOne)(unsafe.Pointer(&all[0])), in.count) {
		if f.id != pollInode {
			c.fs.Forget(f.id, f.count)
		}
	}
	return true
}

// argsOf are the arguments of a request where they lie, nil if it is too short.
func argsOf[T any](q request) *T {
	var t T
	if len(q.in) < int(unsafe.Sizeof(t)) {
		return nil
	}
	return (*T)(unsafe.Pointer(&q.in[0]))
}

// answerOf is the room for an answer, empty, and sets its size.
func answerOf[T any](q request, size *int) *T {
	var t T
	*size = int(unsafe.Sizeof(t))
	clear(q.room[outHeaderSize:][:*size])
	return (*T)(unsafe.Pointer(&q.room[outHeaderSize]))
}

// name is the name that begins at at, and where what follows it begins. The
// one that go-fuse makes up in a root is for go-fuse.
func (q request) name(at int) (name string, next int, ok bool) {
	if at > len(q.in) {
		return "", 0, false
	}
	end := bytes.IndexByte(q.in[at:], 0)
	if end < 0 || q.node() == rootID && string(q.in[at:at+end]) == pollName {
		return "", 0, false
	}
	return string(q.in[at : at+end]), at + end + 1, true
}

// finish puts the header before an answer of this size.
func (q request) finish(size int, st fuse.Status) int {
	if st == answeredLater {
		return 0
	}
	if st != fuse.OK {
		return q.fail(st)
	}
	q.fail(fuse.OK)
	size += outHeaderSize
	binary.NativeEndian.PutUint32(q.room, uint32(size))
	return size
}
