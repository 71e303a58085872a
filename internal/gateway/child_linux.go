package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/confine"
	"github.com/pinfold-dev/pinfold/internal/egress"
)

// nobody is the user that root's gateway becomes.
const nobody = 65534

// init takes over in the process that Start starts: what only the main of the program
// needs is not waited for.
func init() {
	if len(os.Args) > 0 && os.Args[0] == processName {
		if err := childMain(); err != nil {
			fmt.Fprintln(os.Stderr, "pinfold: the gateway of the network:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// childMain is the whole life of the process.
func childMain() error {
	if err := unix.CloseRange(fdControl, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	data, files, err := receive()
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	if len(files) != len(o.Publish) {
		return errors.New("not as many listeners as ports")
	}
	if err := giveUp(); err != nil {
		return err
	}
	var rules egress.Rules
	for _, r := range o.Rules {
		rules = append(rules, egress.Rule(r))
	}
	g := newGateway(rules)
	_, handed, err := receive()
	if err == io.EOF {
		return nil // the command never ran
	}
	if err != nil {
		return err
	}
	ports := rules.LoopbackPorts()
	if len(handed) != 2+len(ports) {
		return errors.New("not as many listeners as ports of the loopback")
	}
	if err := g.start(handed[0]); err != nil {
		return err
	}
	for i, port := range ports {
		if err := g.loopback(handed[2+i], port); err != nil {
			return err
		}
	}
	d := &dialer{channel: handed[1]}
	for i, port := range o.Publish {
		if err := g.publish(files[i], port, d); err != nil {
			return err
		}
	}
	for { // until the other side is gone, or says that it is over
		data, _, err := receive()
		if err != nil {
			break
		}
		if string(data) == wordShut {
			if err := g.shutdown(); err != nil {
				return err // with all that it holds
			}
		}
	}
	g.end()
	return nil
}

// giveUp leaves the process the rights to use the network of the host, and to read how
// names are resolved there.
func giveUp() error {
	seen := []string{"/etc", "/run/systemd/resolve"}
	if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		seen = append(seen, filepath.Dir(real))
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(nobody, nobody, nobody), syscall.Setresuid(nobody, nobody, nobody)); err != nil {
			return fmt.Errorf("become another user: %w", err)
		}
	}
	// Nobody of that user may trace it or read its memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	return confine.Process(confine.Kept{Seen: seen})
}

// receive gets a packet and what is attached to it.
func receive() (data []byte, files []*os.File, err error) {
	packet, rights := make([]byte, maxPacket), make([]byte, unix.CmsgSpace(4*maxFiles))
	var n, rn int
	for {
		n, rn, _, _, err = unix.Recvmsg(fdControl, packet, rights, unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			break
		}
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return nil, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rn])
	if err != nil {
		return nil, nil, err
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return nil, nil, err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "handed over"))
		}
	}
	return packet[:n], files, nil
}

// listener makes a listener of a descriptor, which it closes.
func listener(f *os.File) (net.Listener, error) {
	defer f.Close()
	return net.FileListener(f)
}
