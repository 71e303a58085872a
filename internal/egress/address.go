package egress

import "net/netip"

// Pool is where the addresses lie that stand for names inside: those of carriers' own
// networks, which no host outside has.
var Pool = netip.MustParsePrefix("100.64.0.0/10")

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// special are the addresses that are no hosts of the internet, beside those that
// netip.Addr knows as such (RFC 6890 and its registries). Those that hold an address of
// IP version 4 within lead to it.
var special = func() (list []netip.Prefix) {
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}()

// Public reports whether an address is a host of the internet: neither private, nor of
// this machine, of the local link (where clouds have their metadata), nor otherwise
// special.
func Public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Zone() != "" {
		return false // also loopback, link-local, multicast and unspecified ones
	}
	for _, p := range special {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}

// Dialable reports whether what a name leads to may be dialled: it is a host of the
// internet, or was named literally with this port.
func (r Rules) Dialable(addr netip.Addr, port uint16) bool {
	return Public(addr) || r.AllowsAddr(addr, port)
}
