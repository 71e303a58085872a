package permission

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// root has the children me and sis; me has kid.
var relatives = family{"me": "root", "sis": "root", "kid": "me"}

// T1: a sandboxed agent sends to its parent, and has nothing else.
func TestSandboxedT1(t *testing.T) {
	p := preset(t, "sandboxed")
	require.True(t, send(p, relatives, "root").Allowed())
	require.False(t, send(p, relatives, "kid").Allowed())
	require.False(t, send(p, relatives, "sis").Allowed())
	for _, tool := range []string{"nexus_create", "nexus_destroy", "nexus_shutdown", "nexus_cancel", "nexus_status", "bash_safe", "shell_UNSAFE", "run_python"} {
		d := ask(p, access.Request{Principal: "me", Action: access.ToolUse, Resource: tool})
		require.Equal(t, codeToolDisabled, d.Code, tool)
		require.Equal(t, "sandboxed:tools."+tool+".enabled", d.Rule)
		require.True(t, ask(preset(t, "trusted"), access.Request{Principal: "me", Action: access.ToolUse, Resource: tool}).Allowed())
	}
	net := p.Network()
	require.Equal(t, NetworkNone, net.Mode)
	require.Equal(t, "sandboxed:network", net.Rule)
	require.Equal(t, "preset:sandboxed", net.Source.File)
	require.Equal(t, "Immutable sandbox, no execution/agent management", p.Sources()[0].Document.Description)
}

// aim sends with the given restriction on the tool, from me.
func aim(t *testing.T, restriction string, r Registry, to string) access.Decision {
	p := compile(t, "version: 1\nextends: trusted\ntools: {nexus_send: {allowed_targets: "+restriction+"}}")
	return send(p, r, to)
}

// T5, T11-T15: each restriction, its exact refusal, and what it lets through.
func TestRestrictions(t *testing.T) {
	for _, c := range []struct {
		restriction string
		good        []string
		bad         []string
		text        string
		code        access.Code
	}{
		{"parent", []string{"root", "agent:root:main"}, []string{"kid", "sis", "me", "far"}, "Tool 'nexus_send' can only target parent agent ('root')", codeTargetNotParent}, // T11
		{"children", []string{"kid"}, []string{"root", "sis", "me", "far"}, "Tool 'nexus_send' can only target child agents", codeTargetNotChild},                            // T13
		{"family", []string{"kid", "root"}, []string{"sis", "me", "far"}, "Tool 'nexus_send' can only target parent or child agents", codeTargetNotFamily},                   // T14
		{"siblings", []string{"sis"}, []string{"root", "kid", "me", "far"}, "Tool 'nexus_send' can only target sibling agents", codeTargetNotSibling},
	} {
		for _, id := range c.good {
			require.True(t, aim(t, c.restriction, relatives, id).Allowed(), "%s %s", c.restriction, id)
		}
		for _, id := range c.bad {
			d := aim(t, c.restriction, relatives, id)
			require.Equal(t, c.text, d.Reason())
			require.Equal(t, c.code, d.Code)
			require.Equal(t, access.Position{File: "p.yaml", Line: 3, Column: 22}, d.Source)
		}
	}
	// T12: without a parent.
	require.Equal(t, "Tool 'nexus_send' can only target parent agent ('none')", aim(t, "parent", family{}, "root").Reason())
	require.Equal(t, "Tool 'nexus_send' can only target parent agent ('none')", aim(t, "parent", nil, "root").Reason())
	// T15
	require.Equal(t, "Tool 'nexus_send' cannot target agent 'far'", aim(t, "[root, kid]", relatives, "far").Reason())
	require.True(t, aim(t, "[root, kid]", relatives, "kid").Allowed())
	require.Equal(t, "Tool 'nexus_send' cannot target agent 'root'", aim(t, "[]", relatives, "root").Reason(), "T5: [] targets nobody")
	// T5: absent restricts nothing.
	require.True(t, send(preset(t, "trusted"), relatives, "far").Allowed())
	// T5: a restriction that is not known is denied at run too.
	ok, code := Targets{Word: "everyone"}.allows("far", relation{})
	require.False(t, ok)
	require.Equal(t, codeUnknownRestriction, code)
}

// Who is whose parent is what the registry says: the request has no say.
func TestRelationsComeFromTheRegistry(t *testing.T) {
	require.True(t, aim(t, "parent", family{"me": "far"}, "far").Allowed())
	require.False(t, aim(t, "parent", family{"me": "root"}, "far").Allowed())
	d := Enforcer{preset(t, "sandboxed"), relatives}.Check(context.Background(), access.Request{Action: access.MsgSend, Resource: "root", Tool: "nexus_send"})
	require.Equal(t, CodeNoIdentity, d.Code, "M10: no identity, no message")
}

// T8: every argument that is an agent's id is checked, of any tool.
func TestEveryAgentArgumentT8(t *testing.T) {
	p := compile(t, "version: 1\nextends: trusted\ntools: {introduce: {allowed_targets: family}}")
	call := func(second string) access.Decision {
		return ask(p, access.Request{Principal: "me", Tool: "introduce", Action: access.MsgSend, Resource: "root", Also: []access.Access{{Action: access.AgentStatus, Resource: second}}})
	}
	require.True(t, call("kid").Allowed())
	require.Equal(t, "Tool 'introduce' can only target parent or child agents", call("far").Reason())
}

// T10: a missing target.
func TestMissingTargetT10(t *testing.T) {
	for _, to := range []string{"", "agent:"} {
		d := send(preset(t, "trusted"), relatives, to)
		require.Equal(t, CodeMissingTarget, d.Code)
		require.Equal(t, "no agent_id provided", d.Reason())
	}
	require.Equal(t, CodeInvalidTarget, send(preset(t, "trusted"), relatives, "parent").Code, "T5: reserved")
	require.Equal(t, CodeInvalidTarget, send(preset(t, "trusted"), relatives, "a b").Code)
}

// T17: enabled, then action, then target, then paths; the first failure wins.
func TestOrderT17(t *testing.T) {
	doc := func(enabled, action, target, write string) *Policy {
		return compile(t, "version: 1\nextends: trusted\ntools: {t: {enabled: "+enabled+", allowed_targets: "+target+"}}\ndefaults: {msg.send: "+action+"}\nfs: {write: "+write+"}")
	}
	r := access.Request{Principal: "me", Tool: "t", Action: access.MsgSend, Resource: "far", Also: []access.Access{{Action: access.FSWrite, Resource: "a"}, {Action: access.FSWrite, Resource: "b"}}}
	for _, c := range []struct {
		p    *Policy
		want access.Code
	}{
		{doc("false", "deny", "[]", "[]"), codeToolDisabled},
		{doc("true", "deny", "[]", "[]"), codeActionDenied},
		{doc("true", "allow", "[]", "[]"), CodeTargetNotListed},
		{doc("true", "allow", "[far]", "[]"), pathresolver.RuleNoWritePath},
		{doc("true", "allow", "[far]", "[a]"), pathresolver.RuleNoWritePath},
		{doc("true", "allow", "[far]", "[a, b]"), CodeAllowed},
	} {
		require.Equal(t, c.want, ask(c.p, r).Code)
	}
}

// T4: the fields of a tool.
func TestToolT4(t *testing.T) {
	p := compile(t, "version: 1\nextends: trusted\ntools: {w: {allowed_paths: [src], timeout: 30}, c: {requires_confirmation: true}}")
	w := func(place string) access.Decision {
		return ask(p, access.Request{Tool: "w", Action: access.FSWrite, Resource: place})
	}
	require.True(t, w("src/a").Allowed())
	require.Equal(t, 30, w("src/a").Timeout)
	require.Equal(t, codeToolPath, w("lib/a").Code)
	require.True(t, file(p, access.FSWrite, "lib/a").Allowed(), "without the tool it may")
	require.Equal(t, access.Ask, ask(p, access.Request{Action: access.ToolUse, Resource: "c"}).Effect)

	// M9: a tool's own list opens nothing.
	narrow := compile(t, "version: 1\nextends: sandboxed\nfs: {write: [docs]}\ntools: {write_file: {allowed_paths: [src, docs/a]}}")
	write := func(place string) access.Decision {
		return ask(narrow, access.Request{Tool: "write_file", Action: access.FSWrite, Resource: place})
	}
	require.Equal(t, pathresolver.RuleNoWritePath, write("src/a").Code)
	require.Equal(t, codeToolPath, write("docs/b").Code)
	require.True(t, write("docs/a").Allowed())
	// M7: a tool that nobody declared is denied.
	require.Equal(t, CodeToolNotDeclared, ask(narrow, access.Request{Action: access.ToolUse, Resource: "teleport"}).Code)
}

// T18: a parent destroys its own children without being asked; others it does
// not destroy at all.
func TestDestroyOwnChildT18(t *testing.T) {
	p := compile(t, "version: 1\nextends: trusted\ntools: {nexus_destroy: {requires_confirmation: true}}")
	destroy := func(a access.Action, id string) access.Decision {
		return ask(p, access.Request{Principal: "me", Tool: "nexus_destroy", Action: a, Resource: id})
	}
	require.Equal(t, access.Allow, destroy(access.AgentDestroy, "kid").Effect)
	require.Equal(t, access.Deny, destroy(access.AgentDestroy, "sis").Effect)
	require.Equal(t, access.Ask, destroy(access.AgentCancel, "kid").Effect, "only destroying is free of it")
}
