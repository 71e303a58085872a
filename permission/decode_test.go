package permission

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
)

// example is the document that the schema was drawn from: every key once.
const example = `version: 1
name: worker-docs            # a name
extends: sandboxed           # a preset, a profile, or a file beside this one
fs:
  write: [docs, notes.md]    # paths or globs beneath cwd
  ask_write: [src]           # refused, but may be asked for
  ask_read: []
  hide: ["**/.env", "**/*.pem"]
  protect: [docs/LICENSE.md]
tools:
  nexus_send: {enabled: true, allowed_targets: parent, timeout: 30}
  run_python: {enabled: false}
bash_policy: test
network: false
targets: {msg.send: parent, agent.status: family}
cross_send: {mode: allowlist, allowlist: ["agent:main:main"], denylist: []}
approvals: {default: ask, fuse_wait: 20s, max_wait: 1h}
roles: {verify: VERIFICATION}
`

func TestExample(t *testing.T) {
	require.Equal(t, Document{
		Version: 1, Name: "worker-docs", Extends: "sandboxed",
		FS: &FS{
			Write: []string{"docs", "notes.md"}, AskWrite: []string{"src"}, AskRead: []string{},
			Hide: []string{"**/.env", "**/*.pem"}, Protect: []string{"docs/LICENSE.md"},
		},
		Tools: map[string]Tool{
			"nexus_send": {Enabled: true, AllowedTargets: Targets{Word: "parent"}, Timeout: 30},
			"run_python": {Enabled: false},
		},
		BashPolicy: "test", Network: &Network{Mode: NetworkNone},
		Targets:   map[access.Action]Targets{access.MsgSend: {Word: "parent"}, access.AgentStatus: {Word: "family"}},
		CrossSend: &CrossSend{Mode: Allowlist, Allowlist: []string{"agent:main:main"}, Denylist: []string{}},
		Approvals: &Approvals{Default: "ask", FUSEWait: Duration(20 * time.Second), MaxWait: Duration(time.Hour)},
		Roles:     map[string]string{"verify": "VERIFICATION"},
	}, decode(t, example).Document)
	require.Equal(t, access.Position{File: "p.yaml", Line: 5, Column: 17}, decode(t, example).position("fs.write[1]"))
}

// A document that is not understood is refused, naming file, line, column and
// value (M4), with what was probably meant.
func TestStrict(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `p.yaml:1:1: the document is empty (begin with 'version: 1')`},
		{"fs: {}", `p.yaml:1:1: key 'version' is missing (begin with 'version: 1')`},
		{"version: 2", `p.yaml:1:1: version 2 is not known (this program reads version: 1)`},
		{"version: one", `p.yaml:1:10: version is a string; want a whole number`},
		{"version: 1\nfs:\n  writ: [a]", `p.yaml:3:3: unknown key 'writ' in fs (did you mean 'write'?)`},
		{"version: 1\nfz: {}", `p.yaml:2:1: unknown key 'fz' at the top of a document (did you mean 'fs'?)`},
		{"version: 1\nversion: 1", `p.yaml:2:1: key 'version' is given twice (it stands in line 1 already)`},
		{"version: 1\nfs: {hide: [a], hide: [b]}", `p.yaml:2:17: key 'hide' is given twice (it stands in line 2 already)`},
		{"version: 1\nfs: [a]", `p.yaml:2:5: fs is a list; want a mapping`},
		{"version: 1\nfs: {write: docs}", `p.yaml:2:13: fs.write is a string; want a list`},
		{"version: 1\nfs: {write: }", `p.yaml:2:12: fs.write is empty (null); want a list (leave the key out to inherit, or write the empty value: [] or {})`},
		{"version: 1\nfs: {write: [1]}", `p.yaml:2:14: fs.write[0] is a integer; want a string (quote it: "1")`},
		{"version: 1\nnetwork: yes", `p.yaml:2:10: network is a string; want true, false, or a mapping such as {mode: allow, allow: [example.com]}`},
		{"version: 1\nbash_policy: tests", `p.yaml:2:14: bash_policy: unknown word "tests" (did you mean 'test'?)`},
		{"version: 1\nbash_policy: everything", `p.yaml:2:14: bash_policy: unknown word "everything" (want one of: none, read_only, explore, test, build_test)`},
		{"version: 1\ntargets: {msg.sned: parent}", `p.yaml:2:11: targets: unknown action 'msg.sned' (did you mean 'msg.send'?)`},
		{"version: 1\ntargets: {tool.use: parent}", `p.yaml:2:11: action 'tool.use' has no target (want one of: `},
		{"version: 1\ndefaults: {msg.send: maybe}", `p.yaml:2:22: defaults.msg.send: unknown word "maybe" (want one of: allow, ask, deny)`},
		{"version: 1\ntools: {a: {timeout: 0}}", `p.yaml:2:13: tools.a.timeout: 0 is no timeout (want 1 to 86400 seconds)`},
		{"version: 1\ntools: {a: {timeout: 99999999999999999999}}", `tools.a.timeout`},
		{"version: 1\napprovals: {max_wait: 0s}", `p.yaml:2:23: approvals.max_wait: "0s" is no time (want a positive time such as 20s or 1h30m)`},
		{"version: 1\nname: a b", `p.yaml:2:1: name: "a b" is no id: want 1 to 128 of letters, digits and . _ @ + -`},
		{"version: 1\nfs: {write: [a/../b/../..]}", ``}, // refused when it is compiled: TestWritePathOutside
		{"version: 1\nfs: {hide: [../x]}", `p.yaml:2:13: fs.hide[0]: '../x' has a component ".."`},
		{"version: 1\nfs: {hide: [/x]}", `p.yaml:2:13: fs.hide[0]: '/x' is absolute: paths are relative to the project's root`},
		{"version: 1\nfs: {hide: ['']}", `p.yaml:2:13: fs.hide[0]: '' is empty`},
		{"version: 1\nfs: {hide: ['a[']}", `p.yaml:2:13: fs.hide[0]: 'a[' is not a valid glob`},
		{"version: 1\nfs: {hide: [**/.env]}", `p.yaml:2:13: aliases are not allowed (a glob that begins with * must be quoted: "**/.env")`},
		{"version: 1\nfs: &a {}", `p.yaml:2:5: anchors are not allowed (write the value out)`},
		{"version: 1\nname: !!str x", `p.yaml:2:7: tags are not allowed (write the value out)`},
		{"version: 1\nfs:\n  <<: {}", `p.yaml:3:3: merge keys are not allowed (write the value out)`},
		{"%YAML 1.2\n---\nversion: 1", `directives are not allowed`},
		{"version: 1\n---\nversion: 1", `p.yaml:3:1: a second document in one file (write one file for each)`},
		{"version: 1\nfs: {write: [a", `p.yaml:2:13: this is not YAML: `},
		{"- version: 1", `p.yaml:1:1: the document is a list; want a mapping`},
		{"version: 1\n1: b", `p.yaml:2:1: a key must be a plain word`},
		{"version: 1\ncross_send: {allowlist: []}", `p.yaml:2:13: key 'cross_send.mode' is missing`},
		{"version: 1\nbash_commands: ['rm -rf (x)']", `p.yaml:2:17: "rm -rf (x)" is no command`},
	} {
		if c.want == "" {
			decode(t, c.text)
			continue
		}
		require.Contains(t, refused(t, c.text), c.want, c.text)
	}
}

// Every problem is reported, in the order of the document.
func TestAllProblemsAtOnce(t *testing.T) {
	text := refused(t, "version: 1\nfs: {writ: [a]}\nnetork: true\nroles: {a: 1}")
	require.Equal(t, 3, len(strings.Split(text, "\n")), text)
}

// T5: a list that holds a word is refused and the word alone suggested; a word
// that is not known is refused.
func TestTargetsT5(t *testing.T) {
	for _, w := range []string{"parent", "children", "family", "siblings"} {
		decode(t, "version: 1\ntargets: {msg.send: "+w+"}")
		require.Equal(t, "p.yaml:2:22: targets.msg.send[0]: '"+w+"' is a reserved word and can be no agent's id (write the word alone, without brackets: msg.send: "+w+")",
			refused(t, "version: 1\ntargets: {msg.send: ["+w+"]}"))
		require.Contains(t, refused(t, "version: 1\nname: "+w), "reserved word", "T5: no document and no agent is called so")
		require.Error(t, CheckID(w))
	}
	require.NoError(t, CheckID("parents"))
	require.Contains(t, refused(t, "version: 1\ntools: {a: {allowed_targets: kids}}"), `unknown restriction "kids" (want one of: parent, children, family, siblings; one agent is [kids])`)
	require.Contains(t, refused(t, "version: 1\ntools: {a: {allowed_targets: parnt}}"), "did you mean 'parent'?")

	doc := decode(t, "version: 1\ntools: {a: {allowed_targets: []}, b: {}, c: {allowed_targets: [x]}}").Document
	require.Equal(t, Targets{IDs: []string{}}, doc.Tools["a"].AllowedTargets, "[] stays nobody")
	require.Equal(t, Targets{}, doc.Tools["b"].AllowedTargets, "absent stays inherit")
	require.Equal(t, Targets{IDs: []string{"x"}}, doc.Tools["c"].AllowedTargets)
}

// T4: an entry that is spelled out is enabled unless it says otherwise. T19:
// what is written omits what is absent, and always has `enabled`.
func TestToolFields(t *testing.T) {
	src := decode(t, "version: 1\ntools: {b: {enabled: false}, a: {}}")
	require.True(t, src.Document.Tools["a"].Enabled)
	require.False(t, src.Document.Tools["b"].Enabled)
	require.Equal(t, "version: 1\ntools:\n  a: {enabled: true}\n  b: {enabled: false}\n", string(Encode(src.Document)))
}

func TestJSONIsRead(t *testing.T) {
	src := decode(t, string(encodeJSON(decode(t, example).Document)))
	require.Equal(t, decode(t, example).Document, src.Document)
	require.Equal(t, 8, src.position("fs.write[1]").Line)
}

func TestFromDocumentIsAsStrict(t *testing.T) {
	for _, doc := range []Document{
		{},
		{Version: 1, BashPolicy: "all"},
		{Version: 1, Targets: map[access.Action]Targets{access.MsgSend: {Word: "everyone"}}},
		{Version: 1, Defaults: map[access.Action]access.Effect{"msg.shout": access.Allow}},
		{Version: 1, Defaults: map[access.Action]access.Effect{access.FSWrite: access.Allow}},
		{Version: 1, CrossSend: &CrossSend{}},
		{Version: 1, FS: &FS{Hide: []string{"a\x00"}}},
		{Version: 1, FS: &FS{Outside: "perhaps"}},
	} {
		_, err := FromDocument("go", doc)
		require.Error(t, err, "%+v", doc)
	}
	_, err := FromDocument("go", Document{Version: 1, FS: &FS{Hide: []string{"a"}}})
	require.NoError(t, err)
}
