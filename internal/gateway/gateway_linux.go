package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a gateway that runs.
type Process struct {
	process *os.Process
	control *os.File
	told    chan struct{}
	shut    chan struct{} // closed once it has said that it is shut
	asked   sync.Once     // to shut
}

const (
	processName = "pinfold-gateway" // argv[0] of the process
	fdControl   = 3
	endAfter    = 5 * time.Second // how long it has to say its last words, or that it is shut
	wordShut    = "shut"          // the packet that asks for that
)

// order is the first packet that it gets; the listeners are attached.
type order struct {
	Rules   []rule
	Publish []uint16
}

// rule carries an egress.Rule as text.
type rule struct {
	Name  string
	Addr  netip.Addr
	Ports []uint16
}

// maxPacket bounds a packet, in bytes, and maxFiles the descriptors that come with one.
const (
	maxPacket = 128 << 10
	maxFiles  = 250
)

// Start starts the process. It ends when this one does.
func Start(c Config) (*Process, error) {
	defer func() {
		for _, p := range c.Publish {
			_ = p.Listener.Close() // it has its own by then
		}
	}()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(fds[0], true)
	control, theirs := os.NewFile(uintptr(fds[0]), "gateway"), os.NewFile(uintptr(fds[1]), "gateway")
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		control.Close()
		return nil, err
	}
	defer null.Close()
	process, err := os.StartProcess("/proc/self/exe", []string{processName}, &os.ProcAttr{
		Env: []string{}, Files: []*os.File{null, null, os.Stderr, theirs},
		Sys: &syscall.SysProcAttr{Setsid: true}, // no key of the terminal reaches it
	})
	if err != nil {
		control.Close()
		return nil, err
	}
	p := &Process{process: process, control: control, told: make(chan struct{}), shut: make(chan struct{})}
	var o order
	for _, r := range c.Rules {
		o.Rules = append(o.Rules, rule(r))
	}
	var files []*os.File
	for _, published := range c.Publish {
		f, err := published.Listener.File()
		if err != nil {
			return nil, errors.Join(err, p.kill())
		}
		defer f.Close()
		files = append(files, f)
		o.Publish = append(o.Publish, published.Port)
	}
	data, err := json.Marshal(o)
	if err == nil {
		err = p.send(data, files)
	}
	if err != nil {
		return nil, errors.Join(err, p.kill())
	}
	go p.listen(c.Tell)
	return p, nil
}

// Serve hands over what was made in the command's network: the device, a socket that
// gives a new socket of that network for each byte that is written to it, and a listener
// for each of Rules.LoopbackPorts. It does not close them.
func (p *Process) Serve(device, dialer *os.File, listeners []*os.File) error {
	return p.send([]byte("{}"), append([]*os.File{device, dialer}, listeners...))
}

func (p *Process) send(data []byte, files []*os.File) error {
	if len(data) > maxPacket || len(files) > maxFiles {
		return errors.New("too many hosts and ports")
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	conn, err := p.control.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = conn.Write(func(fd uintptr) bool {
		sent = unix.Sendmsg(int(fd), data, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
		return sent != unix.EAGAIN
	})
	return errors.Join(err, sent)
}

// listen passes on what the process tells until it is gone.
func (p *Process) listen(tell func(Event)) {
	defer close(p.told)
	packet, said := make([]byte, maxPacket), sync.Once{}
	for {
		n, err := p.control.Read(packet)
		if err != nil || n == 0 {
			return
		}
		var e Event
		switch err := json.Unmarshal(packet[:n], &e); {
		case err != nil:
		case e.Shut:
			said.Do(func() { close(p.shut) })
		case tell != nil:
			tell(e)
		}
	}
}

// Shut has nothing go out or come in any more: connections are reset, new ones and names
// are refused, published ports are closed. It returns once that is so, and cannot be undone.
// After an error that is not known.
func (p *Process) Shut() error {
	var err error
	p.asked.Do(func() { err = p.send([]byte(wordShut), nil) })
	if err != nil {
		return fmt.Errorf("the gateway of the network: %w", err)
	}
	select {
	case <-p.shut:
		return nil
	case <-p.told:
		select {
		case <-p.shut:
			return nil
		default:
			return errors.New("the gateway of the network has ended")
		}
	case <-time.After(endAfter):
		return fmt.Errorf("the gateway of the network did not answer within %v", endAfter)
	}
}

// Close ends the connections that there are, and the process. What happened has been
// told when it returns.
func (p *Process) Close() error {
	var err error
	if conn, e := p.control.SyscallConn(); e == nil {
		_ = conn.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
	}
	select {
	case <-p.told:
	case <-time.After(endAfter):
		err = fmt.Errorf("the gateway of the network did not end within %v and was killed", endAfter)
	}
	return errors.Join(err, p.kill())
}

func (p *Process) kill() error {
	_ = p.process.Kill() // it may be gone
	_, err := p.process.Wait()
	return errors.Join(err, p.control.Close())
}
