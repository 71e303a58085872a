// Package fuseconn serves FUSE connections: it reads requests from /dev/fuse,
// decodes them, schedules who answers them, and writes the answers. What a
// request means is up to a Handler. This package knows of no rule and no place,
// and of files only the descriptors that a Handler gives it; a Handler knows of
// no thread and no buffer.
//
//	s := fuseconn.NewServer(run)
//	c, err := s.Connect(fd, handler, options, ended) // agrees with the kernel on the protocol
//	if err != nil {
//		return err
//	}
//	c.Serve()
//
// # Scheduling
//
// One goroutine for each connection, the reader loop (loop_linux.go), reads a
// request, answers it and waits for the next: handing a request to another
// thread costs more than answering it. Before something that may take long
// another goroutine becomes the reader loop, either because the Handler says so
// (Conn.Slow) or because a watchdog sees a request take more than 2 ms
// (watchdog_linux.go). At most maxAnswering goroutines of a Server answer at a
// time, each with one thread and one buffer. What waits for somebody else, a
// file lock or an answer, waits in a goroutine of its own without either
// (Reply.Later).
//
// A process that serves should leave the Go runtime more processors than there
// are connections (runtime.GOMAXPROCS): where none is idle, sysmon takes the
// reader loop's each time it waits.
//
// # Protocol
//
// The requests that come most often are decoded in place (decode_linux.go), the
// others by go-fuse (fuse.ProtocolServer), whose server is not used.
//
// # Locks
//
// No lock is held while a request is answered.
package fuseconn
