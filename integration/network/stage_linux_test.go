package network

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// The addresses of the world.
const (
	public   = "93.184.215.14"
	private  = "10.9.8.7"
	metadata = "169.254.169.254"
)

// staged says that a test runs in namespaces of its own.
const staged = "PINFOLD_TEST_STAGED"

// names are what the world's resolver knows.
var names = map[string]string{
	"allowed.test.": public, "more.allowed.test.": public, "evil.test.": public, "inside.allowed.test.": private,
}

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "probe" {
		os.Exit(probeMain(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// onStage runs the test anew in namespaces of its own, and reports whether this is there.
func onStage(t *testing.T) bool {
	if os.Getenv(staged) != "" {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "5m")
	cmd.Env = append(os.Environ(), staged+"=1")
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_NET_BIND_SERVICE}
	}
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	return false
}

// world is what can be reached from the host, and what it has heard.
type world struct {
	mu    sync.Mutex
	heard map[string]bool
}

func (w *world) hear(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard[what] = true
}

func (w *world) has(what string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard[what]
}

// since are what was heard since it was last asked.
func (w *world) since() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	heard := w.heard
	w.heard = map[string]bool{}
	return heard
}

// newWorld makes the network of the stage and the servers of the world.
func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(s)
	up, err := unix.NewIfreq("lo")
	require.NoError(t, err)
	up.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	require.NoError(t, unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, up))
	for i, a := range []string{public, private, metadata} {
		r, err := unix.NewIfreq(fmt.Sprintf("lo:%d", i))
		require.NoError(t, err)
		addr := netip.MustParseAddr(a).As4()
		require.NoError(t, r.SetInet4Addr(addr[:]))
		require.NoError(t, unix.IoctlIfreq(s, unix.SIOCSIFADDR, r), a)
	}
	require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte(fmt.Sprintf("%d %[1]d", os.Getegid())), 0))
	conf := filepath.Join(t.TempDir(), "resolv.conf")
	require.NoError(t, os.WriteFile(conf, []byte("nameserver "+public+"\n"), 0o644))
	require.NoError(t, os.Chmod(conf, 0o644))
	require.NoError(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	require.NoError(t, unix.Mount(conf, "/etc/resolv.conf", "", unix.MS_BIND, ""))

	w := &world{heard: map[string]bool{}}
	for _, at := range []string{public + ":80", public + ":8080", private + ":80", metadata + ":80", "127.0.0.1:8081", "127.0.0.1:8082"} {
		w.web(t, at, nil)
	}
	w.web(t, public+":443", certificate(t))
	for _, at := range []string{public + ":22", public + ":53"} {
		w.lines(t, at)
	}
	w.resolver(t)
	for _, at := range []string{public + ":443", public + ":4444"} {
		w.datagrams(t, at)
	}
	// What follows has no rights, as the runs that are tried.
	require.NoError(t, unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
	w.since()
	return w
}

// web serves HTTP and hears the path of each request.
func (w *world) web(t *testing.T, at string, cert *tls.Certificate) {
	l, err := net.Listen("tcp", at)
	require.NoError(t, err)
	if cert != nil {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*cert}})
	}
	server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Connection", r.Header.Get("Connection"))
		w.hear(strings.TrimPrefix(r.URL.Path, "/"))
		if r.Method == http.MethodConnect {
			w.hear(strings.TrimSuffix(r.Host, ":443"))
			rw.Header().Set("Connection", "close")
		}
		_, _ = io.WriteString(rw, "hello")
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
}

// lines greets, hears a line, says it again and closes first.
func (w *world) lines(t *testing.T, at string) {
	l, err := net.Listen("tcp", at)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.WriteString(c, "greetings\n")
				b := make([]byte, 1000)
				n, _ := c.Read(b)
				w.hear(strings.TrimSpace(string(b[:n])))
				_, _ = c.Write(b[:n])
			}()
		}
	}()
}

func (w *world) datagrams(t *testing.T, at string) {
	c, err := net.ListenPacket("udp", at)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		b := make([]byte, 1000)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			w.hear(string(b[:n]))
			_, _ = c.WriteTo(b[:n], from)
		}
	}()
}

// resolver answers for names, and hears the first part of each.
func (w *world) resolver(t *testing.T) {
	c, err := net.ListenPacket("udp", public+":53")
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		b := make([]byte, 1000)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			q := m.Questions[0]
			first, _, _ := strings.Cut(q.Name.String(), ".")
			w.hear(first)
			m.Response, m.Additionals = true, nil
			if addr, ok := names[q.Name.String()]; !ok {
				m.RCode = dnsmessage.RCodeNameError
			} else if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(addr).As4()},
				}}
			}
			if reply, err := m.Pack(); err == nil {
				_, _ = c.WriteTo(reply, from)
			}
		}
	}()
}

// certificate is one that nobody trusts.
func certificate(t *testing.T) *tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	require.NoError(t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
