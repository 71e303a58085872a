package mcpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guarded lets through who may use the server. Each check stops another
// attacker, and none relies on the next:
//
//   - Host: a web page whose name was rebound to this machine's address sends
//     that name. (CVE-2025-66414 and -66416 are servers that did not look.)
//   - Origin: a web page that calls the address itself sends its own origin.
//   - Token: any other program of this machine, or of the network.
func guarded(o HTTPOptions, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(o.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !knownHost(r, o.Hosts):
			http.Error(w, "this server is not called by that Host", http.StatusForbidden)
		case !sameOrigin(r):
			http.Error(w, "requests of web pages are refused", http.StatusForbidden)
		case o.Token == "" || !hasToken(r, want):
			w.Header().Set("WWW-Authenticate", `Bearer realm="pinfold"`)
			http.Error(w, "the bearer token is missing or wrong", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knownHost says whether the request calls this machine by a name that nobody
// else can make lead here: localhost, the address that it arrived at, or one
// of hosts. The port is not looked at: a forwarded one differs.
func knownHost(r *http.Request, hosts []string) bool {
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().IsLoopback() || addr.Unmap() == localAddr(r)
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// localAddr is the address that the request arrived at.
func localAddr(r *http.Request) netip.Addr {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap()
}

// sameOrigin says whether the request comes from no web page, or from one of
// this server's own. A browser's "null" is neither.
func sameOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// hasToken compares in a time that tells nothing, not even the length.
func hasToken(r *http.Request, want [sha256.Size]byte) bool {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
