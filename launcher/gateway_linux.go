package launcher

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// device is what the network's only device beside the loopback is called inside.
const device = "pinfold0"

// What comes with sayNet, by message.ID; the listeners follow.
const (
	netDevice = iota
	netDialer
	netListeners
)

// network makes the command's network in the namespace that this process is in, and
// hands what serves it to the supervisor.
func (k *setupHelper) network(g *gatewayPlan) error {
	fail := func(what string, err error) error { return &SetupError{Step: "make the network: " + what, Err: err} }
	tun, err := unix.Openat(k.view.dev, "net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		fix, paste := tunFix(err)
		return &SetupError{Step: "open /dev/net/tun", Err: err, Fix: fix + ": " + paste}
	}
	defer unix.Close(tun)
	if err := makeDevice(tun, g); err != nil {
		return fail("its device", err)
	}
	if err := sendNet(netDevice, tun); err != nil {
		return err
	}
	ours, theirs, err := channelPair()
	if err != nil {
		return err
	}
	err = sendNet(netDialer, theirs)
	unix.Close(theirs)
	if err != nil {
		return err
	}
	go giveSockets(ours)
	for i, port := range g.Loopback {
		l, err := listenLoopback(port)
		if err != nil {
			return fail(fmt.Sprintf("port %d of its loopback", port), err)
		}
		err = sendNet(netListeners+i, l)
		unix.Close(l)
		if err != nil {
			return err
		}
	}
	return k.view.served("the network")
}

func sendNet(id, fd int) error { return send(fdSetup, message{Verb: sayNet, ID: id}, fd) }

// makeDevice gives the open /dev/net/tun a device, with a route to everywhere, and
// brings it and the loopback up.
func makeDevice(tun int, g *gatewayPlan) error {
	named := func(name string, set func(*unix.Ifreq)) *unix.Ifreq {
		r, _ := unix.NewIfreq(name) // of names that are too long it would be an error
		set(r)
		return r
	}
	up := func(r *unix.Ifreq) { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING) }
	if err := unix.IoctlIfreq(tun, unix.TUNSETIFF, named(device, func(r *unix.Ifreq) { r.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI) })); err != nil {
		return err
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	// Where it has no version 6 there is none. Otherwise its packets lead nowhere.
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+device+"/disable_ipv6", []byte("1"), 0)
	address, mask := g.Address.As4(), [4]byte{255, 255, 255, 255}
	for _, step := range []struct {
		request uint
		value   *unix.Ifreq
	}{
		{unix.SIOCSIFFLAGS, named("lo", up)},
		{unix.SIOCSIFMTU, named(device, func(r *unix.Ifreq) { r.SetUint32(uint32(g.MTU)) })},
		{unix.SIOCSIFADDR, named(device, func(r *unix.Ifreq) { _ = r.SetInet4Addr(address[:]) })},
		{unix.SIOCSIFNETMASK, named(device, func(r *unix.Ifreq) { _ = r.SetInet4Addr(mask[:]) })},
		{unix.SIOCSIFFLAGS, named(device, up)},
	} {
		if err := unix.IoctlIfreq(s, step.request, step.value); err != nil {
			return err
		}
	}
	return defaultRoute(s)
}

// route is struct rtentry.
type route struct {
	_                 uintptr
	to, gateway, mask unix.RawSockaddrInet4
	flags             uint16
	_                 int16
	_                 uintptr
	_                 uintptr
	metric            int16
	device            *byte
	mtu, window       uintptr
	roundTripTime     uint16
}

// defaultRoute leads everywhere by the device.
func defaultRoute(socket int) error {
	name, err := unix.BytePtrFromString(device)
	if err != nil {
		return err
	}
	any4 := unix.RawSockaddrInet4{Family: unix.AF_INET}
	r := &route{to: any4, gateway: any4, mask: any4, flags: unix.RTF_UP, device: name}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCADDRT, uintptr(unsafe.Pointer(r)))
	runtime.KeepAlive(r)
	if errno != 0 {
		return errno
	}
	return nil
}

// listenLoopback listens on a port of the loopback.
func listenLoopback(port uint16) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: int(port)}); err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// giveSockets sends a new socket of this network for each packet, until the other side
// is gone.
func giveSockets(channel int) {
	defer unix.Close(channel)
	asked := make([]byte, 1)
	for {
		n, err := unix.Read(channel, asked)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		var rights []byte // none: it cannot be had
		if err == nil {
			rights = unix.UnixRights(fd)
		}
		err = unix.Sendmsg(channel, asked, rights, nil, unix.MSG_NOSIGNAL)
		if fd >= 0 {
			unix.Close(fd)
		}
		if err != nil {
			return
		}
	}
}

// tunFix says what to do about a /dev/net/tun that cannot be opened, and a line for a
// shell that does it.
func tunFix(err error) (fix, paste string) {
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return "let everybody open it, as most systems do", "sudo chmod 666 /dev/net/tun"
	}
	return "load the module tun; a container wants --device /dev/net/tun", "sudo modprobe tun"
}

// netFiles are what a set-up helper has handed over of the network.
type netFiles []*os.File

// take serves the network once all of it is there, and says how that went; done is false
// until then.
func (n *netFiles) take(g *Gateway, fd int) (answer message, done bool) {
	*n = append(*n, os.NewFile(uintptr(fd), "network"))
	if len(*n) < netListeners+len(g.Loopback) {
		return message{}, false
	}
	defer n.close()
	if err := g.Serve((*n)[netDevice], (*n)[netDialer], (*n)[netListeners:]); err != nil {
		return failure(err), true
	}
	return message{Verb: sayServed}, true
}

func (n *netFiles) close() {
	for _, f := range *n {
		_ = f.Close()
	}
	*n = nil
}
