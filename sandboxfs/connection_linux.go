package sandboxfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// connection is one open /dev/fuse. What its requests mean is for quick and for
// go-fuse; who reads and answers them, and when, is up to the leader.
type connection struct {
	fs    fuse.RawFileSystem   // what answers
	ps    *fuse.ProtocolServer // the same, behind go-fuse's decoding
	log   *log.Logger
	file  *os.File
	raw   syscall.RawConn // of file, for who does not answer a request
	fd    int             // of file, for who does: it is open as long as busy is not zero
	busy  sync.WaitGroup  // requests being answered
	gone  chan struct{}   // closed when the kernel has ended it
	onEnd func()          // called after, when nothing is answered any more
	lead  *leader         // set before the first request
	waits sync.Map        // ids of the requests that wait for what others do

	piped   piped // fs, if it takes and gives data in pipes
	pipes   pipes
	large   atomic.Bool // the last request was a large write, so the next one probably is
	unpiped atomic.Bool // no read is answered from a pipe: it did not work

	interrupts interrupts // for those that wait for somebody's answer
	asks       bool       // whether there may be any
}

// connect takes over fd, which was mounted, and settles with the kernel how
// to talk. onEnd is called once, unless there is an error.
func connect(fd int, fs fuse.RawFileSystem, o *fuse.MountOptions, onEnd func()) (*connection, error) {
	unix.CloseOnExec(fd)
	c := &connection{
		fs: fs, ps: fuse.NewProtocolServer(fs, o), log: o.Logger,
		file: os.NewFile(uintptr(fd), "/dev/fuse"), fd: fd,
		gone: make(chan struct{}), onEnd: onEnd,
	}
	c.piped, _ = fs.(piped)
	if err := c.init(); err != nil {
		_ = c.file.Close()
		return nil, fmt.Errorf("init: %w", err)
	}
	return c, nil
}

// init answers the first request.
func (c *connection) init() error {
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

// read waits for a request.
func (c *connection) read(buf []byte) (request, error) {
	for {
		q, err := c.readOne(buf)
		switch {
		case err == unix.EINTR || err == unix.ENOENT: // who asked does not want it any more
		case err != nil:
			return request{}, err
		case len(q.in) < inHeaderSize:
			return request{}, errors.New("short read")
		default:
			return q, nil
		}
	}
}

func (c *connection) readOne(buf []byte) (request, error) {
	if c.large.Load() {
		if p := c.pipes.get(); p != nil {
			if p.fill(c.fd) == nil {
				return c.unpack(p, buf)
			}
			c.pipes.put(p)
			c.large.Store(false) // splice may be refused (seccomp) where read is not; else it fails as well
		}
	}
	n, err := unix.Read(c.fd, buf[:largeRequest+structRoom])
	if err != nil {
		return request{}, err
	}
	return newRequest(buf[:n], buf), nil
}

// wait answers a request that is answered only when others do something.
func (c *connection) wait(q request) {
	defer c.waits.Delete(q.unique())
	c.answer(q)
}

// answer has the file system do what is asked, and tells the kernel unless it
// wants no answer. The caller has added to busy.
func (c *connection) answer(q request) {
	defer c.busy.Done()
	size, done := c.quick(q)
	if !done {
		var st fuse.Status
		if size, st = c.ps.HandleRequest([][]byte{q.in}, [][]byte{q.room}); st != fuse.OK {
			size = q.fail(st)
		}
	}
	c.reply(q, size)
	if q.data != nil {
		c.pipes.put(q.data)
	}
}

// reply gives the kernel an answer; nothing if its size is 0.
func (c *connection) reply(q request, size int) {
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
func (c *connection) end(err error) {
	if err != unix.ENODEV && err != unix.ECONNABORTED {
		c.log.Printf("read from /dev/fuse: %v", err)
	}
	close(c.gone) // who waits for a lock need not any more
	c.interrupts.end()
	c.busy.Wait()
	c.pipes.close()
	_ = c.file.Close()
	c.onEnd()
}

// request is what was read, and the room for the answer.
type request struct {
	in, room []byte
	data     *pipe // what is written, if it is not in in
}

// newRequest is what lies at the beginning of buf, and answered in its rest.
func newRequest(in, buf []byte) request { return request{in: in, room: buf[(len(in)+7)&^7:]} }

// See linux/fuse.h.
const (
	inHeaderSize  = 40
	outHeaderSize = 16

	opSetLkw    = 33
	opInterrupt = 36
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

// answered is the error in the answer, 0 for none.
func (q request) answered() syscall.Errno {
	return syscall.Errno(-int32(binary.NativeEndian.Uint32(q.room[4:])))
}

// isWrite reports whether it writes size bytes, and is nothing unusual.
func (q request) isWrite(size int) bool {
	in := argsOf[fuse.WriteIn](q)
	return in != nil && q.op() == opWrite && int(in.Size) == size && in.TotalExtlen == 0 && in.NodeId != pollInode
}

// interrupted is the id of the request that an opInterrupt is about.
func (q request) interrupted() (unique uint64, ok bool) {
	if q.op() != opInterrupt || len(q.in) < inHeaderSize+8 {
		return 0, false
	}
	return binary.NativeEndian.Uint64(q.in[inHeaderSize:]), true
}

// waits reports whether it is answered only when others do something, and
// without a thread of its own meanwhile.
func (q request) waits() bool { return q.op() == opSetLkw }

// awaited reports whether who made it sleeps until it is answered. What is not
// awaited has to be done before what they ask next: a lock is given back with
// the last descriptor.
func (q request) awaited() bool {
	switch q.op() {
	case opForget, opBatchForget, opRelease, opReleasedir, opInterrupt:
		return false
	}
	return true
}

// detached is the same request, of those that wait, in memory of its own.
func (q request) detached() request {
	return request{in: append([]byte(nil), q.in...), room: make([]byte, outHeaderSize)}
}
