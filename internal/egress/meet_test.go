package egress

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMeetAndCover(t *testing.T) {
	one := func(text string) Rule {
		r, err := ParseRule(text)
		require.NoError(t, err)
		return r
	}
	for _, c := range []struct{ a, b, both string }{
		{"example.com", "example.com", "example.com"},
		{"example.com", "EXAMPLE.com.:443", "example.com:443"},
		{"example.com:80", "example.com:443", ""},
		{"example.com:22", "example.com", ""},
		{"*.example.com", "a.example.com:443", "a.example.com:443"},
		{"*.example.com:443", "*.b.example.com", "*.b.example.com:443"},
		{"*.example.com", "example.com", ""},
		{"*.example.com", "notexample.com", ""},
		{"*.example.com", "*.example.org", ""},
		{"10.1.2.3", "10.1.2.3:80", "10.1.2.3:80"},
		{"10.1.2.3", "10.1.2.4", ""},
		{"10.1.2.3", "*.2.3.example", ""},
		{"localhost:80", "127.0.0.1:80", "127.0.0.1:80"},
		{"localhost:80", "example.com", ""},
	} {
		for _, order := range [][2]Rule{{one(c.a), one(c.b)}, {one(c.b), one(c.a)}} {
			a, b := order[0], order[1]
			both, ok := Meet(a, b)
			require.Equal(t, c.both != "", ok, "%s %s", a, b)
			require.Equal(t, ok && both.String() == a.String(), Rules{b}.Cover(a), "%s covers %s", b, a)
			if ok {
				require.True(t, Rules{a}.Cover(both) && Rules{b}.Cover(both))
			}
		}
		if c.both != "" {
			both, _ := Meet(one(c.a), one(c.b))
			require.Equal(t, c.both, both.String())
		}
	}
	require.True(t, Rules{one("a.example:80"), one("*.example.org:443"), one("a.example:443")}.Cover(one("a.example")))
	require.False(t, Rules{one("a.example:80")}.Cover(one("a.example")))
	require.False(t, Rules(nil).Cover(one("a.example")))
}
