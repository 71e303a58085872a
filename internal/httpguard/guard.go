package httpguard

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Guard says which requests a server on this machine answers, whoever sends
// them. It stops web pages, which can make a browser on this machine send
// requests to it:
//
//   - Host: a page whose name was rebound to this machine's address sends that
//     name. (CVE-2025-66414 and -66416 are servers that did not look.)
//   - Origin: a page that calls the address itself sends its own origin.
//
// The zero value answers programs that call this machine by localhost or a
// loopback address, and no page.
type Guard struct {
	// Remote also takes the address that a request arrived at as this
	// machine's name. It wants the listener's address in the requests' contexts,
	// as net/http puts it there.
	Remote bool
	// Hosts are further names of this machine. A name that an attacker's DNS can
	// make lead here must not be one.
	Hosts []string
	// Pages are the web pages that may call.
	Pages Pages
}

// Pages are the web pages that may call a server.
type Pages int

const (
	// NoPages refuses whatever a browser sends.
	NoPages Pages = iota
	// OwnOrigin takes requests without an Origin, which programs send, and those
	// whose origin is the Host that they call.
	OwnOrigin
	// OwnPage is for a server that is a page and nothing else. What changes
	// something needs the page's own origin, "http://" and the Host that it
	// calls. A link of another site may open the page at "/", which holds
	// nothing by itself.
	OwnPage
)

// Why a Guard refuses a request.
var (
	ErrHost   = errors.New("the request calls this machine by a name that is not its own")
	ErrOrigin = errors.New("the request was sent by a web page that may not")
)

// Check returns ErrHost or ErrOrigin for a request that must not be answered.
func (g Guard) Check(r *http.Request) error {
	switch {
	case !g.knows(r):
		return ErrHost
	case !g.Pages.include(r):
		return ErrOrigin
	}
	return nil
}

// knows says whether the request calls this machine by a name that nobody else
// can make lead here. The port is not looked at: a forwarded one differs.
func (g Guard) knows(r *http.Request) bool {
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().IsLoopback() || g.Remote && addr.Unmap() == localAddr(r)
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || slices.ContainsFunc(g.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// localAddr is the address that the request arrived at.
func localAddr(r *http.Request) netip.Addr {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap()
}

// include says whether a request comes from one of the pages, or from none. A
// browser says the Origin of whatever changes something, and of all that
// another origin sends; a page on another port of this machine is another
// origin, though the same site. Its "null" is no origin of ours.
func (p Pages) include(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	site := r.Header.Get("Sec-Fetch-Site")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch p {
	case OwnOrigin:
		if len(origins) == 0 {
			return true
		}
		u, err := url.Parse(origins[0])
		return err == nil && len(origins) == 1 && u.Host != "" && strings.EqualFold(u.Host, r.Host)
	case OwnPage:
		if len(origins) > 1 || len(origins) == 1 && origins[0] != "http://"+r.Host || len(origins) == 0 && !reads {
			return false
		}
		opens := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Method == http.MethodGet && r.URL.Path == "/"
		return site == "" || site == "same-origin" || site == "none" || opens
	}
	return len(origins) == 0 && site == ""
}
