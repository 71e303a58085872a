package permission

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
)

// cross sends from me under a send ACL.
func cross(t *testing.T, acl, to string) access.Decision {
	return send(compile(t, "version: 1\ndefaults: {msg.send: allow, tool.use: allow}\n"+acl), relatives, to)
}

// X2: unless something else is said, an agent sends to its parent and to its
// own sessions. bypass must be chosen.
func TestCrossSendDefaultX2(t *testing.T) {
	require.True(t, cross(t, "", "agent:root:main").Allowed())
	require.True(t, cross(t, "", "agent:me:other:session").Allowed())
	require.False(t, cross(t, "", "agent:kid:main").Allowed())
	require.Equal(t, "[ERROR] Permission denied: agent \"me\" cannot send to \"agent:kid:main\"\n\n"+
		"Agent cross_send config: allowlist mode\nAllowed patterns:\n  - agent:root:*\n  - agent:me:*\n\n"+
		"Target \"agent:kid:main\" does not match any allowed pattern.", cross(t, "", "agent:kid:main").Text())
	require.True(t, cross(t, "cross_send: {mode: bypass}", "agent:far:x").Allowed())
}

// X1, X8: both modes and their exact texts; X3: an empty allowlist is nothing,
// a denylist without a match lets through, and changing the mode keeps both
// lists.
func TestCrossSendModes(t *testing.T) {
	lists := `allowlist: ["agent:main:*", "agent:kid:main"], denylist: ["*:group:*"]}`
	require.True(t, cross(t, "cross_send: {mode: allowlist, "+lists, "agent:main:x").Allowed())
	require.True(t, cross(t, "cross_send: {mode: allowlist, "+lists, "kid").Allowed(), "a bare id is its main session")
	require.Equal(t, `[ERROR] Permission denied: agent "me" cannot send to "agent:far:x"

Agent cross_send config: allowlist mode
Allowed patterns:
  - agent:main:*
  - agent:kid:main

Target "agent:far:x" does not match any allowed pattern.`, cross(t, "cross_send: {mode: allowlist, "+lists, "agent:far:x").Text())
	require.True(t, cross(t, "cross_send: {mode: denylist, "+lists, "agent:far:x").Allowed())
	d := cross(t, "cross_send: {mode: denylist, "+lists, "agent:far:group:7")
	require.Equal(t, `[ERROR] Permission denied: agent "me" cannot send to "agent:far:group:7"

Agent cross_send config: denylist mode
Denied patterns:
  - *:group:*

Target "agent:far:group:7" matches denied pattern "*:group:*".`, d.Text())
	require.Equal(t, access.Position{File: "p.yaml", Line: 3, Column: 1}, d.Source)
	require.False(t, cross(t, "cross_send: {mode: allowlist, allowlist: []}", "agent:root:main").Allowed())
}

// The text of a refusal shows the list that refused: not the one of an outer policy
// that has none and lets what is sent to the parent through.
func TestCrossSendTextNamesTheListThatRefused(t *testing.T) {
	outer := compile(t, "version: 1\ndefaults: {msg.send: allow, tool.use: allow}")
	require.True(t, send(outer, relatives, "agent:root:main").Allowed())
	p, _, err := outer.Narrow(decode(t, "version: 1\nname: inner\ncross_send: {mode: denylist, denylist: ['agent:root:*']}"), Clamp)
	require.NoError(t, err)
	d := send(p, relatives, "agent:root:main")
	require.False(t, d.Allowed())
	require.Equal(t, "inner:cross_send", d.Rule)
	require.Contains(t, d.Text(), `Target "agent:root:main" matches denied pattern "agent:root:*".`)
}

// X3: patterns by segment.
func TestSessionPatternsX3(t *testing.T) {
	for _, c := range []struct {
		pattern, key string
		want         bool
	}{
		{"agent:main:main", "agent:main:main", true},
		{"agent:main:main", "agent:main:main:x", false},
		{"agent:main:*", "agent:main:x", true},
		{"agent:main:*", "agent:main:x:y:z", true},
		{"agent:main:*", "agent:main2:x", false},
		{"agent:main:*", "agent:main", false}, // one or more
		{"agent:*:whatsapp:*", "agent:a:whatsapp:1:2", true},
		{"agent:*:whatsapp:*", "agent:a:b:whatsapp:1", false}, // an inner * is exactly one
		{"agent:*:whatsapp:*", "agent:a:whatsapp", false},
		{"*:group:*", "agent:a:group:1", true},
		{"*:group:*", "agent:a:b:c:group:1:2", true},
		{"*:group:*", "group:1", false},
		{"*:main", "agent:a:main", true},
		{"*:main", "agent:a:main:x", false},
		{"*:a:*:b", "agent:a:x:b", true},
		{"*:a:*:b", "agent:a:x:y:b", false},
		{"*", "agent:a:b", true},
	} {
		p, err := parseSessionPattern(c.pattern)
		require.NoError(t, err, c.pattern)
		require.Equal(t, c.want, p.matches(c.key), "%s %s", c.pattern, c.key)
	}
	for _, bad := range []string{"", "agent:", ":x", "agent::x", "agent:m*:x", "agent:a b:x", "main", "agent:**", "agent:é:x"} {
		_, err := parseSessionPattern(bad)
		require.Error(t, err, bad)
	}
}

// within never claims that a pattern covers another when some key tells them
// apart.
func TestSessionPatternWithin(t *testing.T) {
	seg := rapid.SampledFrom([]string{"*", "a", "b", "agent"})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) string {
			text := "agent"
			if rapid.Bool().Draw(t, label+"*") {
				text = "*"
			}
			for _, s := range rapid.SliceOfN(seg, 0, 3).Draw(t, label) {
				text += ":" + s
			}
			return text
		}
		a, b := draw("a"), draw("b")
		p, err := parseSessionPattern(a)
		require.NoError(t, err)
		q, err := parseSessionPattern(b)
		require.NoError(t, err)
		key := "agent"
		for _, s := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 4).Draw(t, "key") {
			key += ":" + s
		}
		if p.within(q) && p.matches(key) {
			require.True(t, q.matches(key), "%s within %s, but %s", a, b, key)
		}
	})
}
