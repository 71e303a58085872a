package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// DefaultPorts are the ports of a rule that names none: those of https and http.
var DefaultPorts = []uint16{443, 80}

// loopback is where a port of localhost is reached.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Rule is one host, or all beneath a domain, and its ports.
type Rule struct {
	// Name is a name in lower case without a dot at its end; beneath a domain it
	// begins with "*.". It is "" where Addr is named.
	Name string
	// Addr is an address that is named literally.
	Addr netip.Addr
	// Ports are never empty.
	Ports []uint16
}

// Rules are what may be connected to. The zero value allows nothing.
type Rules []Rule

// Parse reads rules as users write them: NAME, NAME:PORT, *.DOMAIN, an address of IP
// version 4, and localhost:PORT. The error names the entry.
func Parse(entries []string) (Rules, error) {
	var rules Rules
	for _, e := range entries {
		r, err := ParseRule(e)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// ParseRule reads one rule.
func ParseRule(entry string) (Rule, error) {
	fail := func(why string) (Rule, error) { return Rule{}, fmt.Errorf("%q is no host: %s", entry, why) }
	if strings.Contains(entry, "/") {
		return fail("a name is wanted, without a scheme and a path")
	}
	host, port, hasPort := strings.Cut(entry, ":")
	if strings.Contains(port, ":") {
		return fail("there is no IP version 6 inside; name the host")
	}
	r := Rule{Ports: DefaultPorts}
	if hasPort {
		n, err := ParsePort(port)
		if err != nil {
			return fail(err.Error())
		}
		r.Ports = []uint16{n}
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.IsUnspecified() || addr.IsMulticast() || addr == broadcast || Pool.Contains(addr) {
			return fail("that address cannot be connected to")
		}
		if addr.IsLoopback() && addr != loopback {
			return fail("of this machine's loopback only localhost is reached, which is " + loopback.String())
		}
		r.Addr = addr
	} else if r.Name, err = name(host); err != nil {
		return fail(err.Error())
	}
	if !hasPort && r.Loopback() {
		return fail("a port of this machine's loopback is named, as in localhost:8080")
	}
	return r, nil
}

// ParsePort reads a port, 1 to 65535.
func ParsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '+' {
		return 0, fmt.Errorf("%q is no port, which is a number from 1 to 65535", text)
	}
	return uint16(n), nil
}

// name checks a name and gives it the form in which names are compared.
func name(text string) (string, error) {
	text = Fold(text)
	rest, wild := strings.CutPrefix(text, "*.")
	if strings.Contains(rest, "*") {
		return "", errors.New("* stands only for the first part of a name, as in *.example.com")
	}
	labels := strings.Split(rest, ".")
	if wild && len(labels) < 2 {
		return "", errors.New("* beneath a name of one part would be nearly every host")
	}
	if len(text) > maxName || !slices.ContainsFunc(labels, notNumber) {
		return "", errors.New("it is neither a name nor an address")
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || l[0] == '-' {
			return "", errors.New("a name has parts of letters, digits and hyphens, with dots between (others in their xn-- form)")
		}
	}
	return text, nil
}

const maxName = 253

// notNumber says that a name is none that programs take for an address, such as 127.1.
func notNumber(label string) bool {
	_, err := strconv.ParseUint(label, 0, 64)
	return err != nil
}

// Fold is the form of a name in which it is compared: lower case, without a dot at its end.
func Fold(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// Loopback reports whether the rule is for a port of this machine's loopback.
func (r Rule) Loopback() bool {
	return r.Name == "localhost" || r.Addr.IsLoopback()
}

// String is the rule as users write it.
func (r Rule) String() string {
	host := r.Name
	if host == "" {
		host = r.Addr.String()
	}
	if len(r.Ports) == 1 {
		return host + ":" + strconv.Itoa(int(r.Ports[0]))
	}
	return host
}

// covers reports whether the rule is for a name, which is folded.
func (r Rule) covers(n string) bool {
	if domain, wild := strings.CutPrefix(r.Name, "*"); wild {
		return len(n) > len(domain) && strings.HasSuffix(n, domain) && wellFormed(n)
	}
	return r.Name != "" && r.Name == n
}

// wellFormed reports whether a name, which is folded, is one that a rule could have.
func wellFormed(n string) bool {
	_, err := name(n)
	return err == nil && !strings.HasPrefix(n, "*")
}

// Names reports whether some port of a name is allowed. Of localhost it says no: that is
// the command's own.
func (r Rules) Names(name string) bool {
	name = Fold(name)
	return slices.ContainsFunc(r, func(rule Rule) bool { return !rule.Loopback() && rule.covers(name) })
}

// Allows reports whether a port of a name may be connected to.
func (r Rules) Allows(name string, port uint16) bool {
	name = Fold(name)
	return slices.ContainsFunc(r, func(rule Rule) bool {
		return !rule.Loopback() && rule.covers(name) && slices.Contains(rule.Ports, port)
	})
}

// AllowsAddr reports whether a port of an address was named literally; localhost is the
// loopback's address.
func (r Rules) AllowsAddr(addr netip.Addr, port uint16) bool {
	addr = addr.Unmap()
	return slices.ContainsFunc(r, func(rule Rule) bool {
		return (rule.Addr == addr || rule.Name == "localhost" && addr.IsLoopback()) && slices.Contains(rule.Ports, port)
	})
}

// LoopbackPorts are the ports of this machine's loopback that are allowed, sorted.
func (r Rules) LoopbackPorts() (ports []uint16) {
	for _, rule := range r {
		if rule.Loopback() {
			ports = append(ports, rule.Ports...)
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}
