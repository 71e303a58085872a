package gateway

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// dialer connects to ports of the command's loopback. Its sockets are made by whoever is
// in the command's network; see Process.Serve.
type dialer struct {
	mu      sync.Mutex
	channel *os.File
}

func (d *dialer) dial(port uint16) (stream, error) {
	f, err := d.socket()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The loopback answers at once, also that nobody is there.
	if err := unix.Connect(int(f.Fd()), &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: int(port)}); err != nil {
		return nil, fmt.Errorf("connect to port %d inside: %w", port, err)
	}
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// socket gets a new one.
func (d *dialer) socket() (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fd := int(d.channel.Fd()) // which blocks from here on
	if _, err := unix.Write(fd, []byte{1}); err != nil {
		return nil, err
	}
	rights := make([]byte, unix.CmsgSpace(4))
	_, rn, _, _, err := unix.Recvmsg(fd, make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rn])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(err, errors.New("no socket of the command's network was given"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(err, errors.New("no socket of the command's network was given"))
	}
	return os.NewFile(uintptr(fds[0]), "socket"), nil
}
