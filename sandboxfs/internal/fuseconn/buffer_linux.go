package fuseconn

import (
	"sync"

	"golang.org/x/sys/unix"
)

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
