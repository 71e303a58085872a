package fuseconn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// MaxData is the most that one read or write moves, in bytes. With more, data
// leaves the processor's cache on its way through the server, which costs more
// than the requests that it saves.
const MaxData = 256 << 10

// Conn is one open /dev/fuse.
type Conn struct {
	h     Handler
	ps    *fuse.ProtocolServer // h, behind go-fuse's decoding
	log   *log.Logger
	file  *os.File
	raw   syscall.RawConn // of file, for callers that answer no request
	fd    int             // of file, for those that do: it is open while busy is not zero
	busy  sync.WaitGroup  // requests being answered
	ended func()
	loop  *loop

	interrupts interrupts

	slowReads slowReads
	writing   atomic.Int32 // writes being answered
}

// Connect takes over fd, which was mounted, and agrees with the kernel on the
// protocol. Requests wait until Serve. ended is called once, after the last
// answer on a connection that the kernel has ended; not after an error.
func (s *Server) Connect(fd int, h Handler, o *fuse.MountOptions, ended func()) (*Conn, error) {
	unix.CloseOnExec(fd)
	c := &Conn{
		h: h, ps: fuse.NewProtocolServer(rest{h}, o), log: o.Logger,
		file: os.NewFile(uintptr(fd), "/dev/fuse"), fd: fd, ended: ended,
	}
	c.loop = newLoop(c, s)
	if err := c.init(); err != nil {
		_ = c.file.Close()
		return nil, fmt.Errorf("init: %w", err)
	}
	return c, nil
}

// Serve has the requests answered from now on.
func (c *Conn) Serve() { c.loop.server.add(c.loop) }

// init answers the first request.
func (c *Conn) init() error {
	var err error
	if c.raw, err = c.file.SyscallConn(); err != nil {
		return err
	}
	buf := getBuffer()
	defer putBuffer(buf)
	q, err := c.read(buf)
	if err != nil {
		return err
	}
	c.busy.Add(1)
	c.answer(q)
	if e := q.answered(); e != 0 {
		return e
	}
	return nil
}

// read waits for a request. It lies at the beginning of buf, and is answered in
// the rest.
func (c *Conn) read(buf []byte) (request, error) {
	for {
		n, err := unix.Read(c.fd, buf[:MaxData+structRoom])
		switch {
		case err == unix.EINTR || err == unix.ENOENT: // the process was interrupted before it was read
		case err != nil:
			return request{}, err
		case n < inHeaderSize:
			return request{}, errors.New("short read")
		default:
			return request{in: buf[:n], room: buf[(n+7)&^7:]}, nil
		}
	}
}

// answer has the Handler do what is asked, and tells the kernel unless it wants
// no answer. The caller has added to busy.
func (c *Conn) answer(q request) {
	defer c.busy.Done()
	size, left := c.decode(q)
	if left {
		var st fuse.Status
		if size, st = c.ps.HandleRequest([][]byte{q.in}, [][]byte{q.room}); st != fuse.OK {
			size = q.fail(st)
		}
	}
	c.write(q, size)
}

// answerLater has a goroutine of its own make the answer. The caller is
// answering the request, so that the connection is there.
func (c *Conn) answerLater(q request, later func(ctx context.Context) Reply) {
	c.busy.Add(1)
	q = q.detached()
	ctx, end := c.interrupts.begin(q.unique())
	go func() {
		defer c.busy.Done()
		defer end()
		size := 0
		defer func() { c.write(q, size) }()
		defer c.recovered(q, &size)
		size = q.reply(later(ctx))
	}()
}

// recovered is deferred: a bug in one request is an error for the process that
// made it, and the server lives on.
func (c *Conn) recovered(q request, size *int) {
	if r := recover(); r != nil {
		c.log.Printf("opcode %d: bug: %v\n%s", q.op(), r, debug.Stack())
		*size = q.fail(fuse.EIO)
	}
}

// write gives the kernel an answer; nothing if its size is 0.
func (c *Conn) write(q request, size int) {
	if size == 0 {
		return
	}
	_, err := unix.Write(c.fd, q.room[:size])
	for err == unix.EINTR {
		_, err = unix.Write(c.fd, q.room[:size])
	}
	if err != nil && err != unix.ENOENT && err != unix.ENODEV {
		c.log.Printf("answer to opcode %d: %v", q.op(), err)
	}
}

// end frees a connection that err ended, once nothing is being answered.
func (c *Conn) end(err error) {
	if err != unix.ENODEV && err != unix.ECONNABORTED {
		c.log.Printf("read from /dev/fuse: %v", err)
	}
	c.interrupts.end()
	c.busy.Wait()
	_ = c.file.Close()
	c.ended()
}

// request is what was read, and the room for the answer.
type request struct{ in, room []byte }

// See linux/fuse.h.
const (
	inHeaderSize  = 40
	outHeaderSize = 16
)

func (q request) node() uint64   { return binary.NativeEndian.Uint64(q.in[16:]) }
func (q request) op() uint32     { return binary.NativeEndian.Uint32(q.in[4:]) }
func (q request) unique() uint64 { return binary.NativeEndian.Uint64(q.in[8:]) }

// fail makes an error the answer.
func (q request) fail(st fuse.Status) (size int) {
	copy(q.room[8:outHeaderSize], q.in[8:]) // which request it is
	binary.NativeEndian.PutUint32(q.room[0:], outHeaderSize)
	binary.NativeEndian.PutUint32(q.room[4:], uint32(-int32(st)))
	return outHeaderSize
}

// finish puts the header before an answer of this size.
func (q request) finish(size int, st fuse.Status) int {
	if st != fuse.OK {
		return q.fail(st)
	}
	q.fail(fuse.OK)
	size += outHeaderSize
	binary.NativeEndian.PutUint32(q.room, uint32(size))
	return size
}

// reply makes a Reply the answer.
func (q request) reply(r Reply) (size int) {
	if q.op() == opOpen {
		*answerOf[fuse.OpenOut](q, &size) = r.Open
	}
	return q.finish(size, r.Status)
}

// answered is the error in the answer, 0 for none.
func (q request) answered() syscall.Errno {
	return syscall.Errno(-int32(binary.NativeEndian.Uint32(q.room[4:])))
}

// awaited reports whether the process that made it sleeps until it is answered.
// What is not awaited has to be done before what it asks next: a lock is given
// back with the last descriptor.
func (q request) awaited() bool {
	switch q.op() {
	case opForget, opBatchForget, opRelease, opReleasedir, opInterrupt:
		return false
	}
	return true
}

// detached is what of it is needed to answer it later, in memory of its own.
func (q request) detached() request {
	return request{
		in:   append([]byte(nil), q.in[:inHeaderSize]...),
		room: make([]byte, outHeaderSize+unsafe.Sizeof(fuse.OpenOut{})),
	}
}

const (
	// structRoom is more than the fixed part and the names of any request, or
	// of any answer.
	structRoom = 4 << 10
	// bufferSize holds any request and its answer behind it: only one of them
	// has much data.
	bufferSize = MaxData + 3*structRoom
	// warmBuffers is how many unused buffers keep their memory.
	warmBuffers = 4
)

// buffers are those that are not used now, of all connections. They lie outside
// Go's heap and are never unmapped: go-fuse keeps references to what it was
// given last, which must neither keep memory alive nor come to point to
// something else. Pages that were never touched, or given back, cost nothing.
var buffers struct {
	mu   sync.Mutex
	free [][]byte
}

func getBuffer() []byte {
	buffers.mu.Lock()
	defer buffers.mu.Unlock()
	if last := len(buffers.free) - 1; last >= 0 {
		b := buffers.free[last]
		buffers.free = buffers.free[:last]
		return b
	}
	b, err := unix.Mmap(-1, 0, bufferSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return make([]byte, bufferSize)
	}
	return b
}

func putBuffer(b []byte) {
	buffers.mu.Lock()
	defer buffers.mu.Unlock()
	if len(buffers.free) >= warmBuffers {
		_ = unix.Madvise(b, unix.MADV_DONTNEED) // it frees memory, or does not
	}
	buffers.free = append(buffers.free, b)
}
