package permission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
)

// The index of patterns says what comparing all of them says, and names the
// first that matches (X3, X8).
func TestSessionIndexIsTheList(t *testing.T) {
	word := rapid.SampledFrom([]string{"agent", "a", "b", "main", "group"})
	rapid.Check(t, func(t *rapid.T) {
		var list []sessionPattern
		for range rapid.IntRange(0, 12).Draw(t, "patterns") {
			segs := rapid.SliceOfN(rapid.OneOf(word, rapid.Just("*")), 1, 5).Draw(t, "segments")
			if segs[0] != "*" {
				segs[0] = "agent"
			}
			p, err := parseSessionPattern(strings.Join(segs, ":"))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, p)
		}
		key := strings.Join(rapid.SliceOfN(word, 1, 6).Draw(t, "key"), ":")
		want := slices.IndexFunc(list, func(p sessionPattern) bool { return p.matches(key) })
		x := newSessionIndex(list)
		got, ok := x.match(key)
		if ok != (want >= 0) || ok && got.text != list[want].text {
			t.Fatalf("%s: got %q, %v and want %d of %v", key, got.text, ok, want, list)
		}
	})
}

// manyPatterns is a policy whose send ACL has n patterns of every shape.
func manyPatterns(t testing.TB, n int) Enforcer {
	t.Helper()
	x := &CrossSend{Mode: Allowlist, Denylist: []string{}}
	for i := range n {
		x.Allowlist = append(x.Allowlist, fmt.Sprintf([]string{
			"agent:w%d:main", "agent:w%d:*", "agent:*:channel%d:*", "*:group%d", "*:topic%d:*",
		}[i%5], i))
	}
	src, err := FromDocument("p.yaml", Document{Version: 1, Defaults: map[access.Action]access.Effect{access.MsgSend: access.Allow, access.ToolUse: access.Allow}, CrossSend: x})
	require.NoError(t, err)
	p, err := Compile(src, Options{})
	require.NoError(t, err)
	return Enforcer{p, family{"me": "root"}}
}

var sends = map[string]access.Effect{
	"agent:w990:main": access.Allow, "agent:w996:x:y": access.Allow, "agent:a:channel997:7": access.Allow, "agent:a:group998": access.Allow, "agent:a:topic999:1": access.Allow,
	"agent:nobody:main": access.Deny,
}

// The check of a message allocates nothing, whatever the number of patterns.
func TestSendCheckAllocatesNothing(t *testing.T) {
	e := manyPatterns(t, 1000)
	for key, effect := range sends {
		req := access.Request{Principal: "me", Action: access.MsgSend, Resource: key, Tool: "nexus_send"}
		require.Equal(t, effect, e.Check(context.Background(), req).Effect, key)
		if n := testing.AllocsPerRun(100, func() { e.Check(context.Background(), req) }); n >= 0.5 {
			t.Errorf("%s: %v allocations", key, n)
		}
	}
}

// BenchmarkSendCheck is a message under a send ACL of many patterns.
func BenchmarkSendCheck(b *testing.B) {
	for _, n := range []int{1, 10, 1_000} {
		e := manyPatterns(b, n)
		for key := range sends {
			b.Run(fmt.Sprintf("patterns=%d/%s", n, key), func(b *testing.B) {
				for b.Loop() {
					e.Check(context.Background(), access.Request{Principal: "me", Action: access.MsgSend, Resource: key, Tool: "nexus_send"})
				}
			})
		}
	}
}
