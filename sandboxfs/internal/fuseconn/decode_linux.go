package fuseconn

import (
	"bytes"
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
	opSetLkw      = 33
	opCreate      = 35
	opInterrupt   = 36
	opBatchForget = 42
	opRename2     = 45
)

// RootID is the node id of the root of a connection, FUSE_ROOT_ID.
const RootID = 1

// PollName is a file that go-fuse makes up in the root of each connection, to be
// polled. It answers for that name itself; nothing may be renamed to it.
const PollName = ".go-fuse-epoll-hack"

// pollInode is the node id of that file.
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

// decode decodes a request of those and answers it. It reports whether it did:
// anything that looks unusual is left to go-fuse, but for the operations that
// only a Handler has, where that is an error.
func (c *Conn) decode(q request) (size int, done bool) {
	h := (*fuse.InHeader)(unsafe.Pointer(&q.in[0]))
	if h.NodeId == pollInode {
		return 0, false
	}
	defer c.recovered(q, &size)
	done = true // also if it panics
	switch q.op() {
	case opOpen, opSetLkw, opRead, opWrite:
		return c.decodeOwn(q), true
	}
	if h.TotalExtlen != 0 {
		return 0, false
	}
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
			st = c.h.Lookup(nil, h, name, out)
		case opUnlink:
			st = c.h.Unlink(nil, h, name)
		default:
			st = c.h.Rmdir(nil, h, name)
		}
	case opGetattr:
		in := argsOf[fuse.GetAttrIn](q)
		if in == nil {
			return 0, false
		}
		st = c.h.GetAttr(nil, in, answerOf[fuse.AttrOut](q, &size))
	case opCreate:
		in := argsOf[fuse.CreateIn](q)
		name, _, ok := q.name(int(unsafe.Sizeof(*in)))
		if !ok {
			return 0, false
		}
		st = c.h.Create(nil, in, name, answerOf[fuse.CreateOut](q, &size))
	case opMkdir:
		in := argsOf[fuse.MkdirIn](q)
		name, _, ok := q.name(int(unsafe.Sizeof(*in)))
		if !ok {
			return 0, false
		}
		st = c.h.Mkdir(nil, in, name, answerOf[fuse.EntryOut](q, &size))
	case opRename, opRename2:
		return c.decodeRename(q)
	case opOpendir:
		in := argsOf[fuse.OpenIn](q)
		if in == nil {
			return 0, false
		}
		st = c.h.OpenDir(nil, in, answerOf[fuse.OpenOut](q, &size))
	case opFlush:
		in := argsOf[fuse.FlushIn](q)
		if in == nil {
			return 0, false
		}
		st = c.h.Flush(nil, in)
	case opRelease:
		in := argsOf[fuse.ReleaseIn](q)
		if in == nil {
			return 0, false
		}
		c.h.Release(nil, in)
	case opReleasedir:
		in := argsOf[fuse.ReleaseIn](q)
		if in == nil {
			return 0, false
		}
		c.h.ReleaseDir(in)
	case opGetxattr:
		return c.decodeGetxattr(q)
	case opForget:
		in := argsOf[fuse.ForgetIn](q)
		if in == nil {
			return 0, false
		}
		c.h.Forget(in.NodeId, in.Nlookup)
		return 0, true
	case opBatchForget:
		return 0, c.forgetMany(q)
	case opInterrupt:
		// It is not answered: an error would have the kernel ask again and again
		// until the request is done that it is about.
		in := argsOf[fuse.InterruptIn](q)
		if in == nil {
			return 0, false
		}
		c.interrupts.interrupt(in.Unique)
		return 0, true
	default:
		return 0, false
	}
	return q.finish(size, st), true
}

// decodeOwn is decode for the operations that only a Handler has.
func (c *Conn) decodeOwn(q request) (size int) {
	if (*fuse.InHeader)(unsafe.Pointer(&q.in[0])).TotalExtlen != 0 {
		return q.fail(fuse.EIO)
	}
	switch q.op() {
	case opOpen:
		if in := argsOf[fuse.OpenIn](q); in != nil {
			return c.replied(q, c.h.OpenFile(in))
		}
	case opSetLkw:
		if in := argsOf[fuse.LkIn](q); in != nil {
			return c.replied(q, c.h.LockFile(in))
		}
	case opRead:
		if in := argsOf[fuse.ReadIn](q); in != nil && int(in.Size) <= len(q.room)-outHeaderSize {
			return c.readFile(q, in)
		}
	case opWrite:
		if in := argsOf[fuse.WriteIn](q); in != nil {
			return c.writeFile(q, in)
		}
	}
	return q.fail(fuse.EIO)
}

// replied makes a Reply the answer, now or later.
func (c *Conn) replied(q request, r Reply) (size int) {
	if r.Later != nil {
		c.answerLater(q, r.Later)
		return 0
	}
	return q.reply(r)
}

func (c *Conn) decodeRename(q request) (size int, done bool) {
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
	return q.finish(0, c.h.Rename(nil, &in, from, to)), true
}

// decodeGetxattr answers with the size if no room is offered, else with the value.
func (c *Conn) decodeGetxattr(q request) (size int, done bool) {
	in := argsOf[fuse.GetXAttrIn](q)
	attr, _, ok := q.name(int(unsafe.Sizeof(*in)))
	if !ok || int(in.Size) > len(q.room)-outHeaderSize {
		return 0, false
	}
	if in.Size > 0 {
		n, st := c.h.GetXAttr(nil, &in.InHeader, attr, q.room[outHeaderSize:][:in.Size])
		return q.finish(int(n), st), true
	}
	out := answerOf[fuse.GetXAttrOut](q, &size)
	var st fuse.Status
	out.Size, st = c.h.GetXAttr(nil, &in.InHeader, attr, nil)
	if st == fuse.Status(unix.ERANGE) {
		st = fuse.OK // nothing was to be filled
	}
	return q.finish(size, st), true
}

func (c *Conn) forgetMany(q request) (done bool) {
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
			c.h.Forget(f.id, f.count)
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
	if end < 0 || q.node() == RootID && string(q.in[at:at+end]) == PollName {
		return "", 0, false
	}
	return string(q.in[at : at+end]), at + end + 1, true
}
