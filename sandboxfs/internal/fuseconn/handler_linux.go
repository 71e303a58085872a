package fuseconn

import (
	"context"
	"errors"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// Handler does what the requests of a connection ask for. Its methods are called
// by several goroutines. What they are given is valid until they return.
//
// It is go-fuse's RawFileSystem but for four operations, whose answer may come
// late or whose data need not pass through memory. Those four of RawFileSystem
// (Open, SetLkw, Read, Write) are not called.
type Handler interface {
	fuse.RawFileSystem

	// OpenFile is open(2) of a file that exists.
	OpenFile(in *fuse.OpenIn) Reply

	// LockFile takes a lock, and waits for it (F_SETLKW).
	LockFile(in *fuse.LkIn) Reply

	// ReadFile says which descriptor a read is from. release is called after it.
	ReadFile(in *fuse.ReadIn) (fd int, release func(), st fuse.Status)

	// WriteFile writes data where it belongs, and returns how much it wrote.
	WriteFile(in *fuse.WriteIn, data Data) (size uint32, st fuse.Status)
}

// Reply answers a request now, or says how it will be answered.
type Reply struct {
	Status fuse.Status
	Open   fuse.OpenOut // of OpenFile, if Status is OK

	// Later, if it is set, makes the answer instead. It runs in a goroutine of its
	// own, without a buffer and outside of the Server's run, and may wait for as
	// long as ctx lasts: that ends when the process that asked is interrupted, or
	// with the connection. What it returns is final.
	Later func(ctx context.Context) Reply
}

// ErrInterrupted is the cause of the end of a request's context.
var ErrInterrupted = errors.New("interrupted")

// Data is what a request writes, in memory or in a pipe.
type Data struct {
	mem  []byte
	pipe *pipe // nil if it is in mem
}

// Bytes returns the data, if it is in memory: up to largeData it always is.
func (d Data) Bytes() (data []byte, ok bool) { return d.mem, d.pipe == nil }

// WriteTo writes all of it to a file, at an offset or at the file's end. It is
// called once.
func (d Data) WriteTo(fd int, off int64, atEnd bool) (int, error) {
	if d.pipe != nil {
		return d.pipe.pwrite(fd, off, atEnd)
	}
	return fsat.Pwrite(fd, d.mem, off, atEnd)
}

// rest is a Handler as go-fuse sees it. The four operations are decoded here
// alone (decode_linux.go); should one get to go-fuse all the same it fails. With
// ENOSYS, the answer of what is not implemented, the kernel would do without.
type rest struct{ Handler }

func (rest) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.EIO }
func (rest) SetLkw(<-chan struct{}, *fuse.LkIn) fuse.Status                { return fuse.EIO }
func (rest) Read(<-chan struct{}, *fuse.ReadIn, []byte) (fuse.ReadResult, fuse.Status) {
	return nil, fuse.EIO
}
func (rest) Write(<-chan struct{}, *fuse.WriteIn, []byte) (uint32, fuse.Status) {
	return 0, fuse.EIO
}
