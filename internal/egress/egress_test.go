package egress

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAllows(t *testing.T) {
	rules, err := Parse([]string{"Example.com", "*.example.org:443", "ssh.example.net:22", "10.1.2.3:8080", "localhost:5432"})
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		port uint16
		want bool
	}{
		{"example.com", 443, true}, {"EXAMPLE.com.", 80, true}, {"example.com", 22, false}, {"a.example.com", 443, false},
		{"notexample.com", 443, false}, {"example.com.evil.net", 443, false},
		{"a.example.org", 443, true}, {"a.b.example.org", 443, true}, {"example.org", 443, false}, {"aexample.org", 443, false}, {"a.example.org", 80, false},
		{".example.org", 443, false},
		{"ssh.example.net", 22, true}, {"ssh.example.net", 443, false}, {"localhost", 5432, false},
	} {
		assert.Equal(t, c.want, rules.Allows(c.name, c.port), "%s:%d", c.name, c.port)
	}
	assert.True(t, rules.AllowsAddr(netip.MustParseAddr("10.1.2.3"), 8080))
	assert.True(t, rules.AllowsAddr(netip.MustParseAddr("::ffff:10.1.2.3"), 8080))
	assert.False(t, rules.AllowsAddr(netip.MustParseAddr("10.1.2.3"), 80))
	assert.True(t, rules.AllowsAddr(netip.MustParseAddr("127.0.0.1"), 5432))
	assert.Equal(t, []uint16{5432}, rules.LoopbackPorts())
	assert.False(t, Rules(nil).Allows("example.com", 443))
}

func TestParseRefuses(t *testing.T) {
	for _, e := range []string{
		"", "*", "*.com", "a.*.com", "*example.com", "https://example.com", "example.com/x", "example.com:", "example.com:0", "example.com:65536",
		"example.com:x", "example.com:+1", "a..b", "-a.example.com", "exa mple.com", "[::1]:80", "::1", "0.0.0.0:80", "255.255.255.255:80", "100.64.1.1:80", "127.1", "0x7f000001", "2130706433",
		"localhost", "127.0.0.1", "müller.example",
	} {
		_, err := ParseRule(e)
		assert.Error(t, err, e)
	}
	for _, e := range []string{"example.com:443", "example.com", "*.example.com:22", "10.1.2.3:80", "localhost:1"} {
		r, err := ParseRule(e)
		require.NoError(t, err)
		assert.Equal(t, e, r.String())
	}
}

// TestPublic: addresses by which the network of the host, or of its provider, could be
// reached are none of the internet.
func TestPublic(t *testing.T) {
	for _, a := range []string{
		"127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200",
		"192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::1", "::", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001::1", "fec0::1",
	} {
		assert.False(t, Public(netip.MustParseAddr(a)), a)
	}
	for _, a := range []string{"1.1.1.1", "172.32.0.1", "100.128.0.1", "93.184.215.14", "2606:4700::1111", "::ffff:1.1.1.1"} {
		assert.True(t, Public(netip.MustParseAddr(a)), a)
	}
	rules, err := Parse([]string{"10.0.0.1:80"})
	require.NoError(t, err)
	assert.True(t, rules.Dialable(netip.MustParseAddr("10.0.0.1"), 80))
	assert.False(t, rules.Dialable(netip.MustParseAddr("10.0.0.1"), 81))
	assert.False(t, rules.Dialable(netip.MustParseAddr("10.0.0.2"), 80))
}
