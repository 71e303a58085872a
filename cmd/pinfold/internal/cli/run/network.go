package run

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/internal/egress"
	"github.com/pinfold-dev/pinfold/internal/gateway"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// What --net names.
const (
	netHost  = "host"
	netNone  = "none"
	netAllow = "allow"
)

// networkFlags say what the command can reach.
type networkFlags struct {
	net     string
	hosts   []string
	publish []string
	ofAgent []string // the hosts that a launch profile names

	afterRead []string   // globs of --after-read
	after     *afterRead // nil: nothing is closed
}

func (f *networkFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.net, "net", "", "the network inside: `host|none|allow`; host, unless the policy takes it away; allow: none but the hosts of --allow-host")
	_ = cmd.RegisterFlagCompletionFunc("net", cobra.FixedCompletions([]string{netHost, netNone, netAllow}, cobra.ShellCompDirectiveNoFileComp))
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "let CMD connect to `HOST[:PORT]`, such as example.com, *.example.com:443 or localhost:5432, and to nothing else; ports 443 and 80 unless one is named (repeatable)")
	flags.StringArrayVar(&f.publish, "publish", nil, "let programs outside reach a port of the command's own network: `[ADDR:]PORT[:PORT]`, at 127.0.0.1 unless ADDR is named; the last is the one inside (repeatable)")
	flags.StringArrayVar(&f.afterRead, "after-read", nil, "close the network for good before the first file that matches `GLOB` is read, or used otherwise; with --net allow (repeatable)")
	for _, name := range []string{"allow-host", "publish", "after-read"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	cli.Heading(cmd, "Flags", "net", "allow-host", "after-read")
	cli.Heading(cmd, "Users, processes and limits", "publish")
}

// check completes the flags and refuses what cannot be meant.
func (f *networkFlags) check() error {
	if !slices.Contains([]string{"", netHost, netNone, netAllow}, f.net) {
		return cli.UsageError(cli.UnknownWord("choice for --net", f.net, netHost, netNone, netAllow), "")
	}
	if len(f.hosts)+len(f.publish) > 0 {
		if f.net = cmp.Or(f.net, netAllow); f.net != netAllow {
			return cli.UsageError(fmt.Errorf("--allow-host and --publish are for --net allow, and this is --net %s", f.net), "leave --net out")
		}
	}
	if _, err := egress.Parse(f.hosts); err != nil {
		return cli.UsageError(fmt.Errorf("--allow-host: %w", err), "")
	}
	for _, p := range f.publish {
		if _, _, err := parsePublish(p); err != nil {
			return cli.UsageError(fmt.Errorf("--publish: %w", err), "")
		}
	}
	return nil
}

// ofProfile has an agent reach the hosts that its profile names. Where a policy is named
// that waits for what it allows.
func (f *networkFlags) ofProfile(flags *pflag.FlagSet, hosts []string, named bool) error {
	f.ofAgent = hosts
	if f.net != netAllow || named {
		return nil
	}
	for _, h := range hosts {
		if slices.Contains(f.hosts, h) {
			continue
		}
		if err := flags.Set("allow-host", h); err != nil {
			return err
		}
	}
	return f.check()
}

// told is what a person is told of it.
func (f *networkFlags) told() string {
	switch {
	case f.net != netAllow:
		return "your network"
	case len(f.hosts) == 0:
		return "no network but its own"
	}
	return "a network to " + listed(f.hosts) + " alone"
}

// parsePublish reads where to listen, and the port inside.
func parsePublish(text string) (at netip.AddrPort, inside uint16, err error) {
	fail := func(why string) (netip.AddrPort, uint16, error) {
		return at, 0, fmt.Errorf("%q is not [ADDR:]PORT[:PORT]: %s", text, why)
	}
	addr, rest := netip.AddrFrom4([4]byte{127, 0, 0, 1}), text
	if text, ok := strings.CutPrefix(text, "["); ok {
		host, after, ok := strings.Cut(text, "]:")
		if addr, err = netip.ParseAddr(host); err != nil || !ok {
			return fail("that is no address")
		}
		rest = after
	} else if first, after, ok := strings.Cut(text, ":"); ok && strings.Contains(first, ".") {
		if addr, err = netip.ParseAddr(first); err != nil {
			return fail("that is no address")
		}
		rest = after
	}
	outer, inner, two := strings.Cut(rest, ":")
	port, err := egress.ParsePort(outer)
	if err != nil {
		return fail(err.Error())
	}
	if inside = port; two {
		if inside, err = egress.ParsePort(inner); err != nil {
			return fail(err.Error())
		}
	}
	return netip.AddrPortFrom(addr, port), inside, nil
}

// gateway starts what serves the command's network, if it has one with a gateway. The
// caller closes it after the run.
func (f *networkFlags) gateway(tell func(gateway.Event)) (g *gateway.Process, into func(*launcher.Config), err error) {
	if f.net != netAllow {
		return nil, func(*launcher.Config) {}, nil
	}
	rules, err := egress.Parse(f.hosts)
	if err != nil {
		return nil, nil, err
	}
	config := gateway.Config{Rules: rules, Tell: tell}
	for _, p := range f.publish {
		at, inside, err := parsePublish(p)
		var l net.Listener
		if err == nil {
			// "tcp" would take 0.0.0.0 for every address of version 6 as well.
			l, err = net.Listen("tcp"+version(at.Addr()), at.String())
		}
		if err != nil {
			for _, made := range config.Publish {
				_ = made.Listener.Close()
			}
			return nil, nil, fmt.Errorf("--publish %s: %w", p, err)
		}
		config.Publish = append(config.Publish, gateway.Published{Listener: l.(*net.TCPListener), Port: inside})
	}
	if g, err = gateway.Start(config); err != nil {
		return nil, nil, fmt.Errorf("start the gateway of the network: %w", err)
	}
	return g, func(c *launcher.Config) {
		c.Gateway = &launcher.Gateway{
			Address: gateway.Inside, Resolver: gateway.Resolver, MTU: gateway.MTU,
			Loopback: rules.LoopbackPorts(), Serve: g.Serve,
		}
	}, nil
}

func version(a netip.Addr) string {
	if a.Is4() {
		return "4"
	}
	return "6"
}

// hostKind is what makes two refused connections the same to a person.
type hostKind struct {
	host, why, allow string
}

// place is a host and its port, as it is told.
func place(e gateway.Event) string {
	if e.Port == 0 {
		return e.Name
	}
	return net.JoinHostPort(e.Name, strconv.Itoa(int(e.Port)))
}

// connectLine is a line of --report for a refused connection, or for one that was made
// of what 'pinfold logs' shows.
type connectLine struct {
	Time    string    `json:"time"`
	Connect connected `json:"connect"`
}

type connected struct {
	Host     string `json:"host"`
	Port     uint16 `json:"port,omitempty"`
	Refused  string `json:"refused,omitempty"`
	Allow    string `json:"allow,omitempty"`
	Failed   string `json:"failed,omitempty"`
	Inbound  bool   `json:"inbound,omitempty"`
	Sent     int64  `json:"sent,omitempty"`
	Received int64  `json:"received,omitempty"`
}

// network notes what the gateway tells. Connections that were made are in the run's log
// alone.
func (c *refused) network(e gateway.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Refused != "" {
		c.total++
		kind := hostKind{pathresolver.EscapePath(place(e)), e.Refused, e.Allow}
		if _, known := c.hosts[kind]; known || len(c.hosts) < summaryKinds {
			c.hosts[kind]++
		}
	}
	line := connectLine{cli.TimeText(e.Time), connected{
		Host: pathresolver.EscapePath(e.Name), Port: e.Port, Refused: e.Refused, Allow: e.Allow, Failed: e.Failed, Inbound: e.Inbound, Sent: e.Sent, Received: e.Received,
	}}
	for _, file := range c.files {
		if e.Refused == "" && !file.kept {
			continue
		}
		file.omitted += uint64(e.Omitted)
		if file.takes() {
			file.append(line)
		}
	}
}

// hostSummary prints the refused connections, the most frequent first, and returns what
// would have allowed them.
func (c *refused) hostSummary(o *cli.Output) (hints []string) {
	kinds := make([]hostKind, 0, len(c.hosts))
	for k := range c.hosts {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b hostKind) int {
		return cmp.Or(cmp.Compare(c.hosts[b], c.hosts[a]), cmp.Compare(a.host, b.host), cmp.Compare(a.why, b.why))
	})
	var allow []string
	for i, k := range kinds {
		if i == cli.SummaryLines {
			o.Stderr.Printf("  and %d more hosts; --report FILE lists all\n", len(kinds)-i)
			break
		}
		o.Stderr.Printf("  %5d x connect %s  %s\n", c.hosts[k], k.host, o.Stderr.Paint(cli.ColourDim, k.why))
		if k.allow != "" && !slices.Contains(allow, "--allow-host "+k.allow) {
			allow = append(allow, "--allow-host "+k.allow)
		}
	}
	if len(allow) > 0 {
		hints = append(hints, "to allow it: "+strings.Join(allow, " "))
	}
	return hints
}

// within has the network be what the policy and the flags both allow, and refuses flags
// that ask for more than the policy has. nil is no policy.
func (f *networkFlags) within(policy *permission.Policy) error {
	if policy == nil {
		return nil
	}
	has := policy.Network()
	if f.net == netHost && has.Mode != permission.NetworkHost || f.net == netAllow && has.Mode == permission.NetworkNone {
		return cli.UsageError(fmt.Errorf("--net %s is more than policy '%s' allows", f.net, policy.Name()), "leave it out, or name another policy")
	}
	if has.Mode == permission.NetworkAllow && f.net != netNone {
		f.net = netAllow
		for _, h := range f.hosts {
			if !has.Allows(h) {
				return cli.UsageError(fmt.Errorf("--allow-host %s is more than policy '%s' allows", h, policy.Name()), "it allows: "+orNothing(has.Hosts))
			}
		}
		if len(f.hosts) == 0 {
			f.hosts = has.Hosts
		}
	}
	if f.net == netAllow {
		for _, h := range f.ofAgent {
			if has.Allows(h) && !f.allows(h) {
				f.hosts = append(slices.Clone(f.hosts), h)
			}
		}
	}
	return nil
}

// allows reports whether the hosts include one.
func (f *networkFlags) allows(host string) bool {
	rules, err := egress.Parse(f.hosts)
	r, errHost := egress.ParseRule(host)
	return err == nil && errHost == nil && rules.Cover(r)
}

// lacks are the hosts of the launch profile that are not reached.
func (f *networkFlags) lacks() (hosts []string) {
	if f.net == netAllow {
		for _, h := range f.ofAgent {
			if !f.allows(h) {
				hosts = append(hosts, h)
			}
		}
	}
	return hosts
}

func orNothing(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}

// heldBy is a policy as the network of this run narrows it: what the command hires has no
// other hosts.
func (f *networkFlags) heldBy(policy *permission.Policy) (*permission.Policy, error) {
	var n permission.Network
	switch f.net {
	case netNone:
		n.Mode = permission.NetworkNone
	case netAllow:
		n.Mode, n.Allow = permission.NetworkAllow, f.hosts
	default:
		return policy, nil
	}
	src, err := permission.FromDocument("run", permission.Document{Version: 1, Network: &n})
	if err != nil {
		return nil, err
	}
	narrower, _, err := policy.Narrow(src, permission.Clamp)
	return narrower, err
}
