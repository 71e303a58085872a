package permission

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
)

// D25, D21: a grant lifts an ask for what it covers, no further, and only where
// the one who gave it may do the same.
func TestGrantLiftsAnAsk(t *testing.T) {
	boss := compile(t, "version: 1\nextends: sandboxed\nfs: {write: [docs, src, .github]}")
	report, _, err := boss.Child(compile(t, "version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src, lib], protect: [src/keep]}"), Clamp)
	require.NoError(t, err)
	require.Equal(t, access.Ask, file(report, access.FSWrite, "src/a/b").Effect)
	grant := func(g Grant) *Policy {
		g.ID, g.By, g.Within = "7", "boss", boss
		return report.Granting(g)
	}
	write := []access.Access{{Action: access.FSWrite, Resource: "src/a"}}

	exact := grant(Grant{Accesses: write})
	d := file(exact, access.FSWrite, "src/a")
	require.True(t, d.Allowed())
	require.Equal(t, "grant:7", d.Rule)
	require.True(t, file(exact, access.FSCreate, "src/a").Allowed(), "leave to write is leave to create")
	require.Equal(t, access.Ask, file(exact, access.FSWrite, "src/a/b").Effect, "the place and not what is beneath")
	require.Equal(t, access.Ask, file(exact, access.FSWrite, "src/ab").Effect)
	require.Equal(t, access.Ask, file(exact, access.FSDelete, "src/a").Effect, "leave to write is no leave to delete")

	below := grant(Grant{Accesses: write, Subtree: true})
	require.True(t, file(below, access.FSWrite, "src/a/b").Allowed())
	require.Equal(t, access.Ask, file(below, access.FSWrite, "src/ab").Effect)

	anywhere := grant(Grant{Accesses: write, Anywhere: true})
	require.True(t, file(anywhere, access.FSWrite, "src/z").Allowed())
	require.Equal(t, access.Deny, file(anywhere, access.FSWrite, "src/keep").Effect, "a deny is a deny")
	require.Equal(t, access.Deny, file(anywhere, access.FSWrite, "etc").Effect)
	require.Equal(t, access.Deny, file(anywhere, access.FSWrite, "lib/x").Effect, "the manager's chain has no lib")
	require.True(t, file(report, access.FSWrite, "src/z").Effect == access.Ask, "the policy that was is unchanged")
	require.NotEqual(t, report.Hash(), anywhere.Hash())

	// D21: who gave it can do no more than ask itself.
	asks := compile(t, "version: 1\nextends: trusted\nfs: {ask_write: [src]}")
	require.Equal(t, access.Ask, file(asks.Granting(Grant{ID: "7", Accesses: write, By: "boss", Within: asks}), access.FSWrite, "src/a").Effect)
	require.True(t, file(asks.Granting(Grant{ID: "7", Accesses: write}), access.FSWrite, "src/a").Allowed(), "the operator may")
	next, _, err := exact.Child(exact, Clamp)
	require.NoError(t, err)
	require.Equal(t, access.Ask, file(next, access.FSWrite, "src/a").Effect, "nobody inherits a grant")
}

// A digest confines a grant to the same arguments; a rule about a tool is
// lifted for that tool alone.
func TestGrantOfATool(t *testing.T) {
	p := compile(t, "version: 1\nextends: trusted\ntools: {deploy: {requires_confirmation: true}, sell: {requires_confirmation: true}}")
	use := func(p *Policy, tool, digest string) access.Effect {
		return Enforcer{Policy: p}.Check(context.Background(), access.Request{Principal: "me", Action: access.ToolUse, Resource: tool, Tool: tool, ArgsDigest: digest}).Effect
	}
	once := p.Granting(Grant{ID: "1", Accesses: []access.Access{{Action: access.ToolUse, Resource: "deploy"}}, Tool: "deploy", Digest: "d"})
	require.Equal(t, access.Ask, use(p, "deploy", "d"))
	require.Equal(t, access.Allow, use(once, "deploy", "d"))
	require.Equal(t, access.Ask, use(once, "deploy", "e"))
	require.Equal(t, access.Ask, use(once, "sell", "d"))
	any := p.Granting(Grant{ID: "1", Accesses: []access.Access{{Action: access.ToolUse, Resource: "deploy"}}, Tool: "deploy", Anywhere: true})
	require.Equal(t, access.Ask, use(any, "sell", "d"))
}

// A caller that wants a yes to exactly this call is never allowed without one, and
// gets nothing that it would not get otherwise.
func TestConfirm(t *testing.T) {
	p := compile(t, "version: 1\nextends: sandboxed\nfs: {write: [docs]}\ntools: {build: {}, off: {enabled: false}}")
	ask := func(p *Policy, r access.Request) access.Effect {
		r.Principal = "me"
		return p.Check(context.Background(), r).Effect
	}
	build := access.Request{Action: access.ToolUse, Resource: "build", Tool: "build", ArgsDigest: "d"}
	require.Equal(t, access.Allow, ask(p, build))
	build.Confirm = true
	require.Equal(t, access.Ask, ask(p, build))
	require.Equal(t, access.Deny, ask(p, access.Request{Action: access.ToolUse, Resource: "off", Confirm: true}))
	require.Equal(t, access.Deny, ask(p, access.Request{Action: access.FSWrite, Resource: "src", Tool: "build", Confirm: true}))
	require.Equal(t, access.Ask, ask(p, access.Request{Action: access.FSWrite, Resource: "docs/a", Tool: "build", Confirm: true}))
	once := p.Granting(Grant{ID: "1", Accesses: []access.Access{{Action: access.ToolUse, Resource: "build"}}, Tool: "build", Digest: "d"})
	require.Equal(t, access.Allow, ask(once, build))
	d := once.Check(context.Background(), access.Request{Principal: "me", Action: access.ToolUse, Resource: "build", Tool: "build", ArgsDigest: "d", Confirm: true, Also: []access.Access{{Action: access.FSRead, Resource: "docs/a"}}})
	require.Equal(t, "grant:1", d.Rule, "the grant decided, and not the rule that allows to read")
	build.ArgsDigest = "e"
	require.Equal(t, access.Ask, ask(once, build))
	require.Equal(t, access.Deny, ask(p.Granting(Grant{ID: "1", Accesses: []access.Access{{Action: access.ToolUse, Resource: "off"}}, Tool: "off"}), access.Request{Action: access.ToolUse, Resource: "off", Confirm: true}))
	none := compile(t, "version: 1\nextends: sandboxed\ntools: {build: {}}\napprovals: {default: deny}")
	require.Equal(t, access.Deny, ask(none, build), "nobody is to be asked")
}

// M8: a chain reads back as the same policy, that names the same lines.
func TestChainReadsBack(t *testing.T) {
	boss := preset(t, "trusted")
	child, _, err := boss.Child(compile(t, "version: 1\nname: kid\nextends: sandboxed\nfs: {ask_write: [src]}\ntools: {x: {timeout: 7}}"), Clamp)
	require.NoError(t, err)
	same := func(p *Policy) *Policy {
		q, err := DecodePolicy(EncodePolicy(p))
		require.NoError(t, err)
		require.True(t, p.Hash() == q.Hash())
		return q
	}
	q := same(child)
	require.Equal(t, access.Position{File: "p.yaml", Line: 4, Column: 18}, file(q, access.FSWrite, "src/a").Source)
	require.Equal(t, file(child, access.FSWrite, "src/a").Source, file(q, access.FSWrite, "src/a").Source)
	again, _, err := child.Child(preset(t, "sandboxed"), Clamp)
	require.NoError(t, err)
	fromStore, _, err := q.Child(preset(t, "sandboxed"), Clamp)
	require.NoError(t, err)
	require.True(t, again.Hash() == fromStore.Hash())
	_, err = DecodePolicy([]byte(`{"version":2}`))
	require.Error(t, err)
	for _, name := range Builtins() {
		if name != "worker" {
			same(preset(t, name))
		}
	}
	checks(t, func(t *rapid.T) {
		p := genPolicy(t, "policy")
		q, err := DecodePolicy(EncodePolicy(p))
		require.NoError(t, err)
		require.True(t, p.Hash() == q.Hash())
	})
}
