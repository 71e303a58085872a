package permission

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// M1: one question, one answer. Whatever is asked about (a skill's path, a
// message, a tool), the same enforcer answers with effect, code, reason, rule,
// layer and where the rule stands.
func TestOneAnswerM1(t *testing.T) {
	p := compile(t, lines("version: 1", "name: doc", "fs: {read: [.], write: [docs], hide: ['**/.env']}",
		"tools: {nexus_send: {allowed_targets: parent}, Bash: {enabled: false}, Read: {}, read_file: {}, write_file: {}}", "defaults: {msg.send: allow}"))
	ask := func(a access.Action, resource, tool string) access.Decision {
		return Enforcer{p, relatives}.Check(context.Background(), access.Request{Principal: "me", Action: a, Resource: resource, Tool: tool, ArgsDigest: "d", MayBlock: true})
	}
	for _, c := range []struct {
		refused, allowed access.Decision
		code             access.Code
		rule             string
		at               access.Position
	}{
		{ask(access.FSWrite, "src/a", "write_file"), ask(access.FSWrite, "docs/a", "write_file"), pathresolver.RuleNoWritePath, "doc:fs.write", access.Position{File: "p.yaml", Line: 3, Column: 17}},
		{ask(access.FSRead, "docs/.env", "read_file"), ask(access.FSRead, "docs/a", "read_file"), pathresolver.RuleHidden, "doc:fs.hide[0]", access.Position{File: "p.yaml", Line: 3, Column: 39}},
		{ask(access.MsgSend, "kid", "nexus_send"), ask(access.MsgSend, "root", "nexus_send"), codeTargetNotParent, "doc:tools.nexus_send.allowed_targets", access.Position{File: "p.yaml", Line: 4, Column: 22}},
		{ask(access.ToolUse, "Bash", ""), ask(access.ToolUse, "Read", ""), codeToolDisabled, "doc:tools.Bash.enabled", access.Position{File: "p.yaml", Line: 4, Column: 55}},
	} {
		require.Equal(t, access.Allow, c.allowed.Effect)
		require.Equal(t, CodeAllowed, c.allowed.Code)
		d := c.refused
		require.Equal(t, access.Deny, d.Effect)
		require.Equal(t, c.code, d.Code)
		require.Equal(t, c.rule, d.Rule)
		require.Equal(t, "doc", d.Layer)
		require.Equal(t, c.at, d.Source)
		require.NotEmpty(t, d.Reason())
		require.Equal(t, "me", d.Principal)
	}
}

// M2: these are the actions, and no other is known.
func TestActionsM2(t *testing.T) {
	want := strings.Fields("fs.read fs.list fs.write fs.create fs.delete fs.move fs.meta " +
		"msg.send msg.contextualize msg.execute msg.ask msg.answer " +
		"agent.spawn agent.status agent.cancel agent.destroy agent.interrupt tool.use policy.edit")
	var got []string
	for _, a := range access.Actions() {
		got = append(got, string(a))
	}
	require.ElementsMatch(t, want, got)
	p := preset(t, "yolo")
	require.True(t, file(p, access.FSRead, "a").Allowed())
	for _, a := range []access.Action{"", "fs", "fs.exec", "FS.READ", "fs.read ", "msg.sned"} {
		d := file(p, a, "a")
		require.Equal(t, access.Deny, d.Effect, "%q", a)
		require.Equal(t, codeUnknownAction, d.Code, "%q", a)
	}
}

// M3: deny over ask over allow, in whichever layer and whatever order; where
// nothing matches, it is denied.
func TestStrictestWinsM3(t *testing.T) {
	word := map[access.Effect]string{access.Allow: "fs: {read: [.], write: [x]}", access.Ask: "fs: {read: [.], write: [x], ask_write: [x]}", access.Deny: "fs: {read: [.], write: [x], protect: [x]}"}
	strict := []access.Effect{access.Allow, access.Ask, access.Deny}
	for i, outer := range strict {
		for k, inner := range strict {
			p := compile(t, "version: 1\n"+word[outer])
			narrow, _, err := p.Narrow(decode(t, "version: 1\nname: inner\n"+word[inner]), Clamp)
			require.NoError(t, err)
			require.Equal(t, strict[max(i, k)], file(narrow, access.FSWrite, "x").Effect, "%s then %s", outer, inner)
		}
	}
	// Within one layer too: no later rule and no longer path wins.
	for _, lists := range []string{"write: [x, x/y], protect: [x]", "protect: [x/y], write: [x/y, x]", "hide: [x], write: [x/y]"} {
		require.Equal(t, access.Deny, file(compile(t, "version: 1\nfs: {read: [.], "+lists+"}"), access.FSWrite, "x/y").Effect, lists)
		require.Equal(t, access.Allow, file(compile(t, "version: 1\nfs: {read: [.], write: [x]}"), access.FSWrite, "x/y").Effect)
	}
	for _, a := range access.Actions() {
		require.Equal(t, access.Deny, ask(compile(t, "version: 1"), access.Request{Principal: "me", Action: a, Resource: "kid"}).Effect, a)
		require.Equal(t, access.Deny, Enforcer{}.Check(context.Background(), access.Request{Principal: "me", Action: a, Resource: "kid"}).Effect, a)
	}
}

// M4: what is absent is denied at run, too: no policy at all, a zero request,
// an agent that nobody knows.
func TestAbsentIsDeniedM4(t *testing.T) {
	var none *Policy
	require.Equal(t, CodeNoPolicy, none.Check(context.Background(), access.Request{Action: access.FSRead, Resource: "a"}).Code)
	require.Equal(t, access.Allow, file(preset(t, "sandboxed"), access.FSRead, "a").Effect)
	require.Equal(t, access.Deny, preset(t, "yolo").Check(context.Background(), access.Request{}).Effect)
	_, err := Preset("", Options{})
	require.Error(t, err)
}

// M8: every field of the schema survives encoding, one by one: set, it comes
// back set; left out, it stays left out; an empty list stays empty.
func TestEveryFieldM8(t *testing.T) {
	doc := decode(t, example).Document
	doc.Description, doc.OperatorOnly, doc.BashCommands = "d", true, []string{"make"}
	doc.Defaults = map[access.Action]access.Effect{access.AgentSpawn: access.Ask}
	fs := *doc.FS
	fs.Mask, fs.Read, fs.Outside, fs.WriteRequired, fs.Unprotect = []string{"secrets.json"}, []string{"."}, access.Ask, true, []string{".vscode"}
	doc.FS = &fs
	for _, v := range []any{doc, *doc.FS, *doc.CrossSend, *doc.Approvals} {
		for i, value := 0, reflect.ValueOf(v); i < value.NumField(); i++ {
			require.False(t, value.Field(i).IsZero(), "%T.%s is not tried", v, value.Type().Field(i).Name)
		}
	}
	require.Equal(t, doc, decode(t, string(Encode(doc))).Document)
	require.Equal(t, doc, decode(t, string(encodeJSON(doc))).Document)
}

// M9: no list of a tool's own, whatever it names, opens what the policy
// refuses.
func TestToolListsOnlyNarrowM9(t *testing.T) {
	plain := preset(t, "sandboxed", "docs")
	for _, list := range []string{"[.]", "['**']", "[src, docs]", "[docs/a]", "[]"} {
		src := decode(t, "version: 1\nextends: sandboxed\ntools: {write_file: {allowed_paths: "+list+"}}")
		p, err := Compile(src, Options{Caller: &Document{FS: &FS{Write: []string{"docs"}}}})
		require.NoError(t, err)
		for _, place := range []string{"docs/a", "docs/b", "src/a", ".git/config"} {
			r := access.Request{Action: access.FSWrite, Resource: place, Tool: "write_file"}
			if ask(p, r).Allowed() {
				require.True(t, ask(plain, r).Allowed(), "%s %s", list, place)
			}
		}
	}
	require.True(t, ask(plain, access.Request{Action: access.FSWrite, Resource: "docs/a", Tool: "write_file"}).Allowed())
}

// P9: the words of bash_policy, and roles that map to profiles; an unknown role
// is READ_ONLY.
func TestBashPolicyAndRolesP9(t *testing.T) {
	words := strings.Fields("none read_only explore test build_test")
	for _, w := range words {
		p := compile(t, "version: 1\ntools: {Bash: {}}\nbash_policy: "+w)
		require.Equal(t, BashPolicy(w), p.bashPolicy())
		require.Equal(t, w != "none", ask(p, access.Request{Action: access.ToolUse, Resource: "Bash"}).Allowed(), w)
	}
	require.Contains(t, refused(t, "version: 1\nbash_policy: all"), "bash_policy: unknown word")
	require.Equal(t, BashPolicy("read_only"), compile(t, "version: 1\nextends: WRITE\nbash_policy: read_only").bashPolicy(), "the strictest of the chain")

	p := compile(t, "version: 1\nroles: {verify: WRITE, mine: DESIGN}")
	for role, profile := range map[string]string{"intake": "READ_ONLY", "plan": "DESIGN", "verify": "WRITE", "notify": "READ_ONLY", "mine": "DESIGN", "nobody-knows-it": "READ_ONLY"} {
		require.Equal(t, profile, p.role(role), role)
	}
	require.Equal(t, "VERIFICATION", profileFor("verify"))
	require.True(t, slices.Contains(Builtins(), DefaultProfile))
}

// A3: an explanation says what would be decided and by which line, of a path
// and of a target, and does nothing.
func TestExplainA3(t *testing.T) {
	p := compile(t, "version: 1\nname: doc\nextends: sandboxed\nfs: {write: [docs]}\ntargets: {msg.send: children}")
	for _, r := range []access.Request{
		{Principal: "me", Action: access.FSWrite, Resource: "src/a"}, {Principal: "me", Action: access.FSWrite, Resource: "docs/a"},
		{Principal: "me", Action: access.MsgSend, Resource: "sis"}, {Principal: "me", Action: access.MsgSend, Resource: "root"},
	} {
		d, steps := inside{p}.Explain(relatives, r)
		require.Equal(t, Enforcer{p, relatives}.Check(context.Background(), r), d)
		require.NotEmpty(t, steps)
		if !d.Allowed() {
			require.NotEmpty(t, d.Source.File, "%v", r)
			require.Positive(t, d.Source.Line)
		}
	}
}
