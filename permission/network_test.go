package permission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// netOf compiles a document that says this of the network.
func netOf(t *testing.T, network string) *Policy {
	t.Helper()
	return compile(t, "version: 1\nname: p\nnetwork: "+network)
}

// A chain leaves what all of its documents allow.
func TestNetworkOfAChain(t *testing.T) {
	for _, c := range []struct {
		outer, inner string
		mode         NetworkMode
		hosts        string
	}{
		{"true", "true", NetworkHost, ""},
		{"true", "{mode: allow, allow: [a.example]}", NetworkAllow, "a.example"},
		{"{mode: allow, allow: [a.example]}", "{mode: host}", NetworkAllow, "a.example"},
		{"{mode: allow, allow: ['*.x.example', a.org]}", "{mode: allow, allow: [a.x.example:443, b.org]}", NetworkAllow, "a.x.example:443"},
		{"{mode: allow, allow: [a.x.example:443]}", "{mode: allow, allow: ['*.x.example', '*.x.example:443']}", NetworkAllow, "a.x.example:443"},
		{"{mode: allow, allow: [a.example]}", "{mode: allow, allow: [b.example]}", NetworkAllow, ""},
		{"{mode: allow, allow: [a.example]}", "false", NetworkNone, ""},
		{"false", "{mode: allow, allow: [a.example]}", NetworkNone, ""},
		{"false", "true", NetworkNone, ""},
	} {
		p, _, err := netOf(t, c.outer).Child(netOf(t, c.inner), Clamp)
		require.NoError(t, err)
		require.Equal(t, c.mode, p.Network().Mode, "%s, %s", c.outer, c.inner)
		require.Equal(t, c.hosts, strings.Join(p.Network().Hosts, " "), "%s, %s", c.outer, c.inner)
	}
	silent := compile(t, "version: 1\nfs: {read: [.]}")
	require.Equal(t, NetworkNone, silent.Network().Mode)
	p, _, err := netOf(t, "true").Child(silent, Clamp)
	require.NoError(t, err)
	require.Equal(t, NetworkNone, p.Network().Mode)

	at := netOf(t, "{mode: allow, allow: ['*.x.example:443', 10.1.2.3:22]}").Network()
	for host, ok := range map[string]bool{
		"a.x.example:443": true, "*.x.example:443": true, "*.a.x.example:443": true, "10.1.2.3:22": true,
		"a.x.example": false, "x.example:443": false, "10.1.2.3": false, "nonsense/": false, "*.example.org": false,
	} {
		require.Equal(t, ok, at.Allows(host), host)
	}
}

func TestNetworkExcess(t *testing.T) {
	for _, c := range [][3]string{
		{"{mode: allow, allow: [a.example:443]}", "{mode: allow, allow: [a.example]}", "p.yaml:3:32: 'a.example' may not be connected to in 'p'"},
		{"{mode: allow, allow: [a.example:443]}", "true", "p.yaml:3:1: the network is only a.example:443 in 'p'"},
		{"false", "{mode: allow, allow: [a.example]}", "p.yaml:3:1: the network is off in 'p'"},
	} {
		_, _, err := netOf(t, c[0]).Child(netOf(t, c[1]), Reject)
		require.ErrorContains(t, err, c[2])
		_, _, err = netOf(t, c[1]).Child(netOf(t, c[0]), Reject)
		require.NoError(t, err, "the other way round it narrows")
	}
	require.Equal(t, []string{"p.yaml:3:47: 'a.x.example' is covered by '*.x.example' already"}, func() (list []string) {
		for _, f := range netOf(t, "{mode: allow, allow: ['*.x.example', a.x.example]}").lint() {
			list = append(list, f.Position.String()+": "+f.Message)
		}
		return list
	}())
}

func TestDiffOfNetworks(t *testing.T) {
	for _, c := range [][]string{
		{"true", "{mode: host}"},
		{"{mode: allow, allow: [a.example, b.example]}", "{mode: allow, allow: [b.example, A.example]}"},
		{"false", "{mode: allow, allow: [a.example]}", "widens: the network: only a.example, was off [p:network, p.yaml:3:1]"},
		{"{mode: allow}", "true", "widens: the network: on, was no host but its own loopback [p:network, p.yaml:3:1]"},
		{"true", "{mode: allow, allow: [a.example]}", "narrows: the network: only a.example, was on [p:network, p.yaml:3:1]"},
		{"{mode: allow, allow: [a.example:443]}", "{mode: allow, allow: [a.example]}", "widens: connecting to 'a.example': allowed, was only a.example:443 [p:network.allow[0], p.yaml:3:32]"},
		{"{mode: allow, allow: [a.example]}", "{mode: allow, allow: [a.example, 10.1.2.3:22]}", "widens: connecting to '10.1.2.3:22': allowed, was refused [p:network.allow[1], p.yaml:3:43]"},
		{"{mode: allow, allow: ['*.a.example']}", "{mode: allow, allow: ['*.a.example', a.example:80]}", "widens: connecting to 'a.example:80': allowed, was refused [p:network.allow[1], p.yaml:3:47]"},
		{"{mode: allow, allow: [b.a.example]}", "{mode: allow, allow: ['*.a.example']}", "widens: connecting to '*.a.example': allowed, was only b.a.example [p:network.allow[0], p.yaml:3:32]"},
		{"{mode: allow, allow: [a.example, b.example]}", "{mode: allow, allow: [b.example:80]}",
			"narrows: connecting to 'a.example': refused, was allowed [p:network.allow[0], p.yaml:3:32]",
			"narrows: connecting to 'b.example': only b.example:80, was allowed [p:network.allow[1], p.yaml:3:43]"},
	} {
		var have []string
		for _, change := range diff(netOf(t, c[0]), netOf(t, c[1])) {
			have = append(have, change.String())
		}
		require.Equal(t, c[2:], append([]string{}, have...), "%s", c)
	}
}

func TestNetworkMistakes(t *testing.T) {
	for network, want := range map[string]string{
		"{mode: allow, allow: [ok.example, 'https://a.example']}": `p.yaml:2:44: network.allow[1]: "https://a.example" is no host: a name is wanted, without a scheme and a path`,
		"{mode: allow, allow: ['a.example:0']}":                   `p.yaml:2:32: network.allow[0]: "a.example:0" is no host`,
		"{mode: allow, allow: ['*.example']}":                     "* beneath a name of one part would be nearly every host",
		"{mode: allow, allow: [localhost]}":                       "p.yaml:2:32: network.allow[0]:",
		"{mode: allow, allow: [a.example: 443]}":                  "network.allow[0] is a mapping; want a string",
		"{mode: allow, allow: ['a.example':443]}":                 "network.allow[0] is a mapping; want a string",
		"{mode: none, allow: [a.example]}":                        "p.yaml:2:23: network.allow lists hosts, and the mode is none",
		"{mode: open}":                                            `p.yaml:2:17: network.mode: unknown word "open"`,
		"{allow: [a.example]}":                                    "key 'network.mode' is missing",
		"{mode: allow, hosts: [a.example]}":                       "p.yaml:2:24: unknown key 'hosts' in network",
		"[a.example]":                                             "network is a list; want true, false, or a mapping",
	} {
		require.Contains(t, refused(t, "version: 1\nnetwork: "+network), want)
	}
	require.Contains(t, refused(t, "version: 1\nnetwork: {mode: allow, allow: ["+strings.Repeat("a.example, ", maxHosts+1)+"]}"), "more than 500 hosts")
	_, err := FromDocument("p.yaml", Document{Version: 1, Network: &Network{Mode: "wide"}})
	require.ErrorContains(t, err, `unknown word "wide"`)
}

func TestHostsOfAProject(t *testing.T) {
	for run, want := range map[string]string{
		"{net: allow, allow_host: [a.example:22]}": "",
		"{allow_host: ['a.example/']}":             `.pinfold.yaml:2:20: run.allow_host[0]: "a.example/" is no host`,
		"{net: none, allow_host: [a.example]}":     ".pinfold.yaml:2:18: run.allow_host lists hosts, and run.net is none",
		"{net: host}":                              `run.net: unknown word "host"`,
	} {
		_, _, err := decodeProject(".pinfold.yaml", []byte("version: 1\nrun: "+run))
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}
