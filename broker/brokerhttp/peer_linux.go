package brokerhttp

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// peer is who made a connection, as the kernel says.
type peer struct {
	uid uint32
	pid int32
	ns  uint64 // the inode of its process namespace
	// held keeps the namespace, and with it the inode: the kernel gives the
	// number of one that has ended to another.
	held *os.File
}

// peerOf asks the kernel. The namespace is read by the process's number, which
// could be another's by then: the descriptor that came with the connection says
// afterwards that it was not (SO_PEERPIDFD, Linux 6.5). A peer that is gone is
// refused.
func peerOf(c *net.UnixConn) (peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var p peer
	var asked error
	err = raw.Control(func(fd uintptr) { p, asked = askPeer(int(fd)) })
	if err = errors.Join(err, asked); err != nil && p.held != nil {
		err = errors.Join(err, p.held.Close())
	}
	return p, err
}

func askPeer(fd int) (peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return peer{}, os.NewSyscallError("SO_PEERCRED", err)
	}
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err != nil {
		return peer{}, fmt.Errorf("who is there cannot be told for certain (Linux 6.5 or newer can): %w", os.NewSyscallError("SO_PEERPIDFD", err))
	}
	defer unix.Close(pidfd)
	p := peer{uid: cred.Uid, pid: cred.Pid}
	if p.ns, p.held, err = processNamespace(strconv.Itoa(int(cred.Pid))); err != nil {
		return p, err
	}
	if err := unix.PidfdSendSignal(pidfd, 0, nil, 0); err != nil && err != unix.EPERM { // EPERM: alive, and another user's
		return p, fmt.Errorf("whoever connected is gone: %w", err)
	}
	return p, nil
}

// processNamespace is the inode of a process's namespace of process numbers,
// and the namespace, which lasts until that is closed.
func processNamespace(pid string) (uint64, *os.File, error) {
	ns, err := os.Open("/proc/" + pid + "/ns/pid")
	if err != nil {
		return 0, nil, fmt.Errorf("its process namespace cannot be read: %w", err)
	}
	info, err := ns.Stat()
	if err != nil {
		return 0, nil, errors.Join(err, ns.Close())
	}
	return info.Sys().(*syscall.Stat_t).Ino, ns, nil
}
