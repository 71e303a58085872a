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
	opGetLk       = 31
	opSetLk       = 32
	opSetLkw      = 33
	opCreate      = 35
	opInterrupt   = 36
	opBatchForget = 42
	opRename2     = 45
)

// layouts has the operations that are decoded here, by number: the size of what
// stands before names and data, and how many names follow it.
var layouts = [opRename2 + 1]struct {
	fixed uintptr
	names int
}{
	opLookup:      {inHeaderSize, 1},
	opForget:      {unsafe.Sizeof(fuse.ForgetIn{}), 0},
	opGetattr:     {unsafe.Sizeof(fuse.GetAttrIn{}), 0},
	opMkdir:       {unsafe.Sizeof(fuse.MkdirIn{}), 1},
	opUnlink:      {inHeaderSize, 1},
	opRmdir:       {inHeaderSize, 1},
	opRename:      {unsafe.Sizeof(renameIn{}), 2},
	opOpen:        {unsafe.Sizeof(fuse.OpenIn{}), 0},
	opRead:        {unsafe.Sizeof(fuse.ReadIn{}), 0},
	opWrite:       {unsafe.Sizeof(fuse.WriteIn{}), 0},
	opRelease:     {unsafe.Sizeof(fuse.ReleaseIn{}), 0},
	opGetxattr:    {unsafe.Sizeof(fuse.GetXAttrIn{}), 1},
	opFlush:       {unsafe.Sizeof(fuse.FlushIn{}), 0},
	opOpendir:     {unsafe.Sizeof(fuse.OpenIn{}), 0},
	opReleasedir:  {unsafe.Sizeof(fuse.ReleaseIn{}), 0},
	opGetLk:       {unsafe.Sizeof(fuse.LkIn{}), 0},
	opSetLk:       {unsafe.Sizeof(fuse.LkIn{}), 0},
	opSetLkw:      {unsafe.Sizeof(fuse.LkIn{}), 0},
	opCreate:      {unsafe.Sizeof(fuse.CreateIn{}), 1},
	opInterrupt:   {unsafe.Sizeof(fuse.InterruptIn{}), 0},
	opBatchForget: {unsafe.Sizeof(batchForgetIn{}), 0},
	opRename2:     {unsafe.Sizeof(fuse.RenameIn{}), 2},
}

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

// decode decodes a request of those and answers it; a size of 0 is no answer.
// Anything that looks unusual is left to go-fuse, but for the operations that only
// a Handler has, where that is an error.
func (c *Conn) decode(q request) (size int, left bool) {
	h, op := argsOf[fuse.InHeader](q), q.op()
	if h.NodeId == pollInode || op >= uint32(len(layouts)) || layouts[op].fixed == 0 {
		return 0, true
	}
	defer c.recovered(q, &size)
	at := int(layouts[op].fixed)
	usual := len(q.in) >= at && h.TotalExtlen == 0
	var names [2]string
	for i := range layouts[op].names {
		var ok bool
		names[i], at, ok = q.name(at)
		usual = usual && ok
	}
	switch op {
	case opOpen, opSetLkw, opRead, opWrite:
		if !usual {
			return q.fail(fuse.EIO), false
		}
	default:
		if !usual {
			return 0, true
		}
	}
	name := names[0]
	var st fuse.Status
	switch op {
	case opOpen:
		return c.replied(q, c.h.OpenFile(argsOf[fuse.OpenIn](q))), false
	case opSetLkw:
		return c.replied(q, c.h.LockFile(argsOf[fuse.LkIn](q))), false
	case opRead:
		return c.readFile(q, argsOf[fuse.ReadIn](q)), false
	case opWrite:
		return c.writeFile(q, argsOf[fuse.WriteIn](q)), false
	case opLookup:
		st = c.h.Lookup(nil, h, name, answerOf[fuse.EntryOut](q, &size))
	case opGetattr:
		st = c.h.GetAttr(nil, argsOf[fuse.GetAttrIn](q), answerOf[fuse.AttrOut](q, &size))
	case opCreate:
		st = c.h.Create(nil, argsOf[fuse.CreateIn](q), name, answerOf[fuse.CreateOut](q, &size))
	case opMkdir:
		st = c.h.Mkdir(nil, argsOf[fuse.MkdirIn](q), name, answerOf[fuse.EntryOut](q, &size))
	case opUnlink:
		st = c.h.Unlink(nil, h, name)
	case opRmdir:
		st = c.h.Rmdir(nil, h, name)
	case opRename:
		old := argsOf[renameIn](q)
		in := fuse.RenameIn{InHeader: old.InHeader, Newdir: old.newDir}
		st = c.h.Rename(nil, &in, name, names[1])
	case opRename2:
		in := *argsOf[fuse.RenameIn](q)
		st = c.h.Rename(nil, &in, name, names[1])
	case opOpendir:
		st = c.h.OpenDir(nil, argsOf[fuse.OpenIn](q), answerOf[fuse.OpenOut](q, &size))
	case opGetLk:
		st = c.h.GetLk(nil, argsOf[fuse.LkIn](q), answerOf[fuse.LkOut](q, &size))
	case opSetLk:
		st = c.h.SetLk(nil, argsOf[fuse.LkIn](q))
	case opFlush:
		st = c.h.Flush(nil, argsOf[fuse.FlushIn](q))
	case opRelease:
		c.h.Release(nil, argsOf[fuse.ReleaseIn](q))
	case opReleasedir:
		c.h.ReleaseDir(argsOf[fuse.ReleaseIn](q))
	case opGetxattr:
		return c.getxattr(q, name)
	case opForget:
		in := argsOf[fuse.ForgetIn](q)
		c.h.Forget(in.NodeId, in.Nlookup)
		return 0, false
	case opBatchForget:
		return 0, !c.forgetMany(q)
	case opInterrupt:
		// It is not answered: an error would have the kernel ask again and again
		// until the request is done that it is about.
		c.interrupts.interrupt(argsOf[fuse.InterruptIn](q).Unique)
		return 0, false
	}
	return q.finish(size, st), false
}

// replied makes a Reply the answer, now or later.
func (c *Conn) replied(q request, r Reply) (size int) {
	if r.Later != nil {
		c.answerLater(q, r.Later)
		return 0
	}
	return q.reply(r)
}

// getxattr answers with the size if no room is offered, else with the value.
func (c *Conn) getxattr(q request, attr string) (size int, left bool) {
	in := argsOf[fuse.GetXAttrIn](q)
	if int(in.Size) > len(q.room)-outHeaderSize {
		return 0, true
	}
	if in.Size > 0 {
		n, st := c.h.GetXAttr(nil, &in.InHeader, attr, q.room[outHeaderSize:][:in.Size])
		return q.finish(int(n), st), false
	}
	out := answerOf[fuse.GetXAttrOut](q, &size)
	var st fuse.Status
	out.Size, st = c.h.GetXAttr(nil, &in.InHeader, attr, nil)
	if st == fuse.Status(unix.ERANGE) {
		st = fuse.OK // nothing was to be filled
	}
	return q.finish(size, st), false
}

func (c *Conn) forgetMany(q request) (done bool) {
	in := argsOf[batchForgetIn](q)
	all := q.in[unsafe.Sizeof(*in):]
	if in.count == 0 || uint64(in.count)*uint64(unsafe.Sizeof(forgetOne{})) > uint64(len(all)) {
		return false
	}
	for _, f := range unsafe.Slice((*forgetOne)(unsafe.Pointer(&all[0])), in.count) {
		if f.id != pollInode {
			c.h.Forget(f.id, f.count)
		}
	}
	return true
}

// argsOf are the arguments of a request where they lie. It is as long as that.
func argsOf[T any](q request) *T { return (*T)(unsafe.Pointer(&q.in[0])) }

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
