package brokerhttp

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// fromAPage says whether a web page may have sent the request. Nothing here is
// for pages: one that calls this address itself sends its Origin, and one whose
// name was rebound to this machine's address sends that name as Host.
// (CVE-2025-66414 and -66416 are servers that did not look.)
func fromAPage(r *http.Request, hosts []string) bool {
	if len(r.Header.Values("Origin")) > 0 || r.Header.Get("Sec-Fetch-Site") != "" {
		return true
	}
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return !addr.Unmap().IsLoopback() && addr.Unmap() != localAddr(r)
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name != "localhost" && !slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// localAddr is the address that the request arrived at.
func localAddr(r *http.Request) netip.Addr {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap()
}
