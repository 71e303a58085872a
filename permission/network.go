package permission

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/egress"
)

// Network is what a document says of the network. In a document, true stands for the
// mode host and false for none.
type Network struct {
	Mode  NetworkMode `yaml:"mode" required:"true" doc:"none: nothing. allow: the hosts that allow lists, and the agent's own loopback. host: all that the host reaches."`
	Allow []string    `yaml:"allow" doc:"The hosts of the mode allow: NAME, NAME:PORT, *.DOMAIN, an address of IP version 4, or localhost:PORT; ports 443 and 80 unless one is named. Of a chain, what every list of it allows."`
}

// isBool reports whether true or false says all of it.
func (n Network) isBool() bool {
	return n.Allow == nil && (n.Mode == NetworkHost || n.Mode == NetworkNone)
}

// Reach is what all documents of a policy leave of the network.
type Reach struct {
	Mode  NetworkMode
	Hosts []string // of the mode allow, as Network.Allow has them

	// Rule and Source are the statement that decides. Without one no document
	// grants the network.
	Rule   string
	Source access.Position

	rules []hostRule
}

// hostRule is a host with the entry that names it.
type hostRule struct {
	egress.Rule
	from *rule
}

// networkRule is a compiled Network.
type networkRule struct {
	mode  NetworkMode
	hosts []hostRule
	rule  *rule
}

func (l *layer) compileNetwork(n *Network) *networkRule {
	c := &networkRule{mode: n.Mode, rule: l.newRule("network", "")}
	for i, text := range n.Allow {
		if r, err := egress.ParseRule(text); err == nil { // or validate has refused it
			c.hosts = append(c.hosts, hostRule{r, l.newRule(fmt.Sprintf("network.allow[%d]", i), text)})
		}
	}
	return c
}

// Network is what the agent reaches: what every document of the chain that speaks of it
// allows, and nothing where a principal's documents are silent.
func (p *Policy) Network() Reach {
	at := Reach{Mode: NetworkHost}
	for _, g := range p.groups {
		spoke := !g.sealed
		for _, l := range g.layers {
			if l.network != nil {
				spoke = true
				at.narrow(l.network)
			}
		}
		if !spoke {
			return Reach{Mode: NetworkNone}
		}
	}
	for _, h := range at.rules {
		at.Hosts = append(at.Hosts, h.String())
	}
	return at
}

// narrow leaves of the reach what n allows too.
func (r *Reach) narrow(n *networkRule) {
	switch {
	case r.Mode == NetworkNone || r.Mode == NetworkAllow && n.mode == NetworkHost:
		return // the other statement stays the one that decides
	case n.mode == NetworkHost:
	case n.mode != NetworkAllow:
		r.Mode, r.rules = NetworkNone, nil
	case r.Mode == NetworkHost:
		r.Mode, r.rules = NetworkAllow, n.hosts
	default:
		r.rules = meet(r.rules, n.hosts)
	}
	r.Rule, r.Source = n.rule.id, n.rule.at
}

// meet is what both lists allow, by the narrower entry of each pair.
func meet(a, b []hostRule) (both []hostRule) {
	var have egress.Rules
	for _, x := range a {
		for _, y := range b {
			m, ok := egress.Meet(x.Rule, y.Rule)
			if !ok || have.Cover(m) {
				continue
			}
			from := y.from
			if (egress.Rules{y.Rule}).Cover(x.Rule) {
				from = x.from
			}
			have, both = append(have, m), append(both, hostRule{m, from})
		}
	}
	return both
}

// Allows reports whether the agent reaches all that a host, as Network.Allow has it,
// stands for.
func (r Reach) Allows(host string) bool {
	rule, err := egress.ParseRule(host)
	return err == nil && (r.Mode == NetworkHost || r.Mode == NetworkAllow && r.egress().Cover(rule))
}

// Behind is the statement that decides about a host: the entry that allows it, or what
// Rule and Source are.
func (r Reach) Behind(host string) (rule string, at access.Position) {
	of, err := egress.ParseRule(host)
	for _, h := range r.rules {
		if _, ok := egress.Meet(h.Rule, of); err == nil && ok {
			return h.from.id, h.from.at
		}
	}
	return r.Rule, r.Source
}

func (r Reach) egress() (rules egress.Rules) {
	for _, h := range r.rules {
		rules = append(rules, h.Rule)
	}
	return rules
}

// text is how a message shows it.
func (r Reach) text() string {
	switch {
	case r.Mode == NetworkHost:
		return "on"
	case r.Mode != NetworkAllow:
		return "off"
	case len(r.Hosts) == 0:
		return "no host but its own loopback"
	}
	return "only " + strings.Join(r.Hosts, ", ")
}

// network compares what both policies reach.
func (d *differ) network() {
	was, is := d.before.Network(), d.after.Network()
	add := func(widens bool, rule string, at access.Position, format string, args ...any) {
		d.changes = append(d.changes, change{widens: widens, text: fmt.Sprintf(format, args...), rule: rule, source: at})
	}
	if was.Mode != is.Mode {
		by := is
		if by.Rule == "" {
			by = was
		}
		add(is.Mode.rank() > was.Mode.rank(), by.Rule, by.Source, "the network: %s, was %s", is.text(), was.text())
		return
	}
	for _, list := range []struct {
		hosts  []hostRule
		other  Reach
		widens bool
	}{{is.rules, was, true}, {was.rules, is, false}} {
		for _, h := range list.hosts {
			if other := list.other.egress(); other.Cover(h.Rule) {
				continue
			}
			now, then := "allowed", "refused"
			for _, m := range meet([]hostRule{h}, list.other.rules) {
				then = "only " + m.String()
				break
			}
			if !list.widens {
				now, then = then, now
			}
			add(list.widens, h.from.id, h.from.at, "connecting to '%s': %s, was %s", h.Rule, now, then)
		}
	}
}

// networkExcess lists what a layer grants of the network that the policy does not.
func (p *Policy) networkExcess(l *layer, add func(path, format string, args ...any)) {
	n := l.network
	if n == nil || n.mode.rank() == 0 {
		return
	}
	has := p.Network()
	switch {
	case has.Mode.rank() == 0:
		add("network", "the network is off in '%s'", p.Name())
	case n.mode.rank() > has.Mode.rank():
		add("network", "the network is %s in '%s'", has.text(), p.Name())
	case has.Mode == NetworkAllow:
		for _, h := range n.hosts {
			if !has.egress().Cover(h.Rule) {
				add(strings.TrimPrefix(h.from.id, l.name+":"), "'%s' may not be connected to in '%s'", h.Rule, p.Name())
			}
		}
	}
}

// lint finds hosts that another entry of the list covers.
func (n *networkRule) lint(add addProblem) {
	if n == nil {
		return
	}
	for i, h := range n.hosts {
		for j, o := range n.hosts {
			wider := (egress.Rules{o.Rule}).Cover(h.Rule)
			if i != j && wider && (j < i || !(egress.Rules{h.Rule}).Cover(o.Rule)) {
				add("redundant_rule", fmt.Sprintf("network.allow[%d]", i), "drop it", "'%s' is covered by '%s' already", h.from.text, o.from.text)
				break
			}
		}
	}
}

func (v *validator) network(n *Network) {
	if n == nil {
		return
	}
	v.word("network.mode", string(n.Mode), n.Mode.words())
	if n.Mode == "" {
		v.bad("network.mode", "key 'network.mode' is missing", "want one of: "+listText(n.Mode.words()))
	}
	v.hosts("network.allow", n.Allow)
	if n.Mode != "" && n.Mode != NetworkAllow && n.Allow != nil {
		v.bad("network.allow", fmt.Sprintf("network.allow lists hosts, and the mode is %s", n.Mode), "write 'mode: allow'")
	}
}

// hosts checks a list of hosts.
func (v *validator) hosts(path string, list []string) {
	if len(list) > maxHosts {
		v.bad(path, fmt.Sprintf("%s has more than %d hosts", path, maxHosts), "*.DOMAIN is all names beneath a domain")
	}
	for i, text := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !v.plain(at, text) {
			continue
		}
		if _, err := egress.ParseRule(text); err != nil {
			v.bad(at, fmt.Sprintf("%s: %s", at, err), "write NAME or NAME:PORT, such as example.com or *.example.com:443")
		}
	}
}
