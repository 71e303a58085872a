package fuseconn

import (
	"context"
	"errors"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Handler does what the requests of a connection ask for. Its methods are called
// by several goroutines. What they are given is valid until they return.
//
// It is go-fuse's RawFileSystem but for three operations: the answers of two may
// come late, and a read says what it is from, so that the Conn can find out
// whether that takes long. Those three of RawFileSystem (Open, SetLkw, Read) are
// not called.
type Handler interface {
	fuse.RawFileSystem

	// OpenFile is open(2) of a file that exists.
	OpenFile(in *fuse.OpenIn) Reply

	// LockFile takes a lock, and waits for it (F_SETLKW).
	LockFile(in *fuse.LkIn) Reply

	// ReadFile says which descriptor a read is from. release is called after it.
	ReadFile(in *fuse.ReadIn) (fd int, release func(), st fuse.Status)
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

// rest is a Handler as go-fuse sees it. The three operations are decoded in
// decode_linux.go only. If one reaches go-fuse all the same it fails, and not with
// ENOSYS: after that answer the kernel would do without the operation.
type rest struct{ Handler }

func (rest) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.EIO }
func (rest) SetLkw(<-chan struct{}, *fuse.LkIn) fuse.Status                { return fuse.EIO }
func (rest) Read(<-chan struct{}, *fuse.ReadIn, []byte) (fuse.ReadResult, fuse.Status) {
	return nil, fuse.EIO
}
