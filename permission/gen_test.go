package permission

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
)

// The universe of the property tests: few names, so that rules and requests
// meet, and every kind of pattern.
var (
	genName  = rapid.SampledFrom([]string{"a", "b", "c", ".env", "x.pem", "A", ".envrc", ".vscode", "tasks.json"})
	genPlace = rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 19).Draw(t, "special") == 0 {
			return rapid.SampledFrom([]string{".", "/etc/x", "../a", "a//b", ""}).Draw(t, "odd")
		}
		return strings.Join(rapid.SliceOfN(genName, 1, 4).Draw(t, "names"), "/")
	})
	genSeg     = rapid.SampledFrom([]string{"a", "b", "c", ".env", "x.pem", "*", "**", "*.pem", "?", "[ab]", "{a,c}", ".e*"})
	genPattern = rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "root") == 0 {
			return "."
		}
		return strings.Join(rapid.SliceOfN(genSeg, 1, 3).Draw(t, "segs"), "/")
	})
	genTool    = rapid.SampledFrom([]string{"read_file", "nexus_send", "Bash", "other"})
	genAgent   = rapid.SampledFrom([]string{"root", "me", "sis", "kid", "kid2", "far"})
	genTarget  = rapid.SampledFrom([]string{"root", "me", "sis", "kid", "kid2", "far", "agent:root:main", "agent:kid:x:y", "agent:far:main", "parent", ""})
	genSession = rapid.SampledFrom([]string{"agent:root:main", "agent:*:main", "*", "agent:kid:*", "*:main", "*:x:*", "agent:far:main"})
	genWord    = rapid.SampledFrom([]string{"parent", "children", "family", "siblings"})
	genEffect  = rapid.SampledFrom([]access.Effect{access.Allow, access.Ask, access.Deny})
	genAction  = rapid.SampledFrom(access.Actions())
)

// kin is the registry of the property tests: root > me, sis > kid, kid2.
var kin = family{"me": "root", "sis": "root", "kid": "me", "kid2": "me"}

// maybe draws nothing (absent) about half of the time.
func maybe[T any](t *rapid.T, label string, g *rapid.Generator[T]) (v T) {
	if rapid.Bool().Draw(t, label+"?") {
		return g.Draw(t, label)
	}
	return v
}

// list draws an absent, empty or short list.
func list(g *rapid.Generator[string]) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		if l := rapid.SliceOfN(g, 0, 3).Draw(t, "list"); l != nil {
			return l
		}
		return []string{}
	})
}

var genTargets = rapid.Custom(func(t *rapid.T) Targets {
	if rapid.Bool().Draw(t, "word") {
		return Targets{Word: genWord.Draw(t, "word")}
	}
	return Targets{IDs: list(genAgent).Draw(t, "ids")}
})

var genFS = rapid.Custom(func(t *rapid.T) *FS {
	return &FS{
		Read: maybe(t, "read", list(genPattern)), Write: maybe(t, "write", list(genPattern)),
		AskRead: maybe(t, "ask_read", list(genPattern)), AskWrite: maybe(t, "ask_write", list(genPattern)),
		Hide: maybe(t, "hide", list(genPattern)), Protect: maybe(t, "protect", list(genPattern)),
		Unprotect: maybe(t, "unprotect", list(rapid.SampledFrom([]string{".vscode", "**/.vscode/tasks.json", ".envrc", ".claude"}))),
		Outside:   maybe(t, "outside", genEffect),
	}
})

var genToolEntry = rapid.Custom(func(t *rapid.T) Tool {
	return Tool{
		Enabled: rapid.IntRange(0, 3).Draw(t, "enabled") > 0, RequiresConfirmation: rapid.Bool().Draw(t, "confirm"),
		AllowedPaths: maybe(t, "paths", list(genPattern)), AllowedTargets: maybe(t, "targets", genTargets),
		Timeout: maybe(t, "timeout", rapid.IntRange(1, 86400)),
	}
})

// genDocument draws valid documents with every key of the schema, but extends.
var genDocument = rapid.Custom(func(t *rapid.T) Document {
	d := Document{
		Version: 1, Name: maybe(t, "name", rapid.StringMatching(`[A-Za-z0-9._@+-]{1,9}`)),
		Description:  maybe(t, "description", rapid.StringMatching(`[ -~äß…\n\t]{1,30}`)),
		OperatorOnly: rapid.IntRange(0, 9).Draw(t, "operator") == 0,
		FS:           maybe(t, "fs", genFS),
		BashPolicy:   maybe(t, "bash", rapid.SampledFrom([]BashPolicy{"none", "read_only", "explore", "test", "build_test"})),
		BashCommands: maybe(t, "commands", list(rapid.SampledFrom([]string{"git add", "make", "go test ./..."}))),
	}
	if rapid.Bool().Draw(t, "tools?") {
		d.Tools = rapid.MapOfN(genTool, genToolEntry, 0, 3).Draw(t, "tools")
	}
	if rapid.Bool().Draw(t, "defaults?") {
		d.Defaults = rapid.MapOfN(rapid.SampledFrom(plainActions), genEffect, 0, 6).Draw(t, "defaults")
	}
	if rapid.Bool().Draw(t, "targets?") {
		d.Targets = rapid.MapOfN(rapid.SampledFrom(targetActions), genTargets, 0, 4).Draw(t, "targets")
	}
	if rapid.Bool().Draw(t, "network?") {
		d.Network = rapid.SampledFrom([]*Network{
			{Mode: NetworkHost}, {Mode: NetworkNone}, {Mode: NetworkAllow}, {Mode: NetworkAllow, Allow: []string{}},
			{Mode: NetworkAllow, Allow: []string{"a.example", "*.b.example:443", "localhost:5432"}},
		}).Draw(t, "network")
	}
	if rapid.Bool().Draw(t, "acl?") {
		d.CrossSend = &CrossSend{
			Mode:      rapid.SampledFrom([]Mode{Bypass, Allowlist, Denylist}).Draw(t, "mode"),
			Allowlist: maybe(t, "allow", list(genSession)), Denylist: maybe(t, "deny", list(genSession)),
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "approvals?") == 0 {
		wait := rapid.Int64Range(1, int64(48*time.Hour))
		d.Approvals = &Approvals{
			Default:  maybe(t, "default", rapid.SampledFrom([]Asking{"ask", "deny"})),
			FUSEWait: Duration(maybe(t, "fuse", wait)), MaxWait: Duration(maybe(t, "max", wait)),
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "roles?") == 0 {
		d.Roles = rapid.MapOfN(rapid.SampledFrom([]string{"verify", "plan"}), rapid.SampledFrom([]string{"READ_ONLY", "./x.yaml"}), 0, 2).Draw(t, "roles")
	}
	return d
})

var genRequest = rapid.Custom(func(t *rapid.T) access.Request {
	oneAccess := func(label string) access.Access {
		a := access.Access{Action: genAction.Draw(t, label)}
		switch {
		case strings.HasPrefix(string(a.Action), "fs."):
			a.Resource = genPlace.Draw(t, label+" place")
		case a.Action == access.ToolUse:
			a.Resource = genTool.Draw(t, label+" tool")
		default:
			a.Resource = genTarget.Draw(t, label+" target")
		}
		return a
	}
	main := oneAccess("main")
	r := access.Request{Principal: "me", Action: main.Action, Resource: main.Resource, Tool: maybe(t, "tool", genTool)}
	for range rapid.IntRange(0, 1).Draw(t, "also") {
		r.Also = append(r.Also, oneAccess("also"))
	}
	return r
})
