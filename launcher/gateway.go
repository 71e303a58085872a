package launcher

import (
	"fmt"
	"net/netip"
	"os"
	"path"
)

// Gateway is a network of the command's own, with one way out.
type Gateway struct {
	// Address is the command's own, and Resolver answers it for names, at port 53.
	// Both are of IP version 4.
	Address, Resolver netip.Addr
	// MTU is the device's, in bytes.
	MTU int
	// Loopback are ports of the command's loopback whose listeners Serve gets.
	Loopback []uint16
	// Serve takes over what was made in the command's network, before the command
	// runs: the device, by which every packet to other addresses comes and goes; a
	// socket that gives a new TCP socket of that network for each byte that is
	// written to it; and the listeners, one for each port of Loopback. They are
	// closed when it returns. After an error the command does not run.
	Serve func(device, dialer *os.File, loopback []*os.File) error
}

// gatewayPlan is what the set-up helper does of it.
type gatewayPlan struct {
	Address  netip.Addr
	MTU      int
	Loopback []uint16
}

// network plans the network: none, the host's, or one with a gateway.
func (p *runPlan) network(c Config, host hostFacts) error {
	if c.NoNetwork || c.Gateway != nil {
		p.Namespaces = append(p.Namespaces, "net")
	}
	if c.NoNetwork || c.Gateway == nil {
		return nil
	}
	if host.ResolvConf == "" {
		return &SetupError{Step: "show how names are resolved", Err: fmt.Errorf("there is no /etc/resolv.conf, so it cannot be replaced inside"),
			Fix: "make one, which may be empty"}
	}
	p.Gateway = &gatewayPlan{Address: c.Gateway.Address, MTU: c.Gateway.MTU, Loopback: c.Gateway.Loopback}
	return nil
}

// names has programs inside ask the gateway for names, and know no host by the host's
// own list.
func (b *builder) names(c Config) {
	if b.plan.Gateway == nil {
		return
	}
	b.instead(b.host.ResolvConf, "/run/pinfold/resolv.conf", "nameserver "+c.Gateway.Resolver.String()+"\noptions timeout:2 attempts:2\n")
	if b.host.Hosts != "" {
		hosts := "127.0.0.1 localhost\n::1 ip6-localhost ip6-loopback\n"
		if b.host.Hostname != "" {
			hosts += "127.0.1.1 " + b.host.Hostname + "\n"
		}
		b.instead(b.host.Hosts, "/run/pinfold/hosts", hosts)
	}
}

// instead shows content at p, a real path of the host.
func (b *builder) instead(p, from, content string) {
	if _, shown := b.shown(p); !shown {
		b.dir(path.Dir(p))
		b.add(planStep{Do: doFile, Path: p, Mode: 0o444, Data: []byte(content)})
		return
	}
	b.add(planStep{Do: doFile, Path: from, Mode: 0o444, Data: []byte(content)})
	b.add(planStep{Do: doOver, Path: p, From: from})
}
