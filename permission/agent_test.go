package permission

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func agent(t *testing.T, front string) *Agent {
	t.Helper()
	a, err := ParseAgent("a.md", []byte("---\n"+front+"\n---\n# Body\nname: not this\n"))
	require.NoError(t, err)
	return a
}

func effective(t *testing.T, front string) (*Policy, []string) {
	t.Helper()
	p, found, err := agent(t, front).Policy(Options{})
	require.NoError(t, err)
	var texts []string
	for _, f := range found {
		texts = append(texts, string(f.Severity)+" "+f.String())
	}
	return p, texts
}

func tool(p *Policy, name string) access.Effect {
	return ask(p, access.Request{Principal: "me", Action: access.ToolUse, Resource: name}).Effect
}

// Tools as real definitions have them: a list, or one string with commas.
func TestAgentTools(t *testing.T) {
	for front, want := range map[string][]string{
		"name: x\ntools: Read, Grep,Glob":             {"Read", "Grep", "Glob"},
		"name: x\ntools: [Read, Grep]":                {"Read", "Grep"},
		"name: x\ntools:\n  - Read\n  - Bash(ls:*)":   {"Read", "Bash"},
		"name: x\ntools: Bash(git add:*, x), Read":    {"Bash", "Read"},
		"name: x\ntools: \"*\"":                       nil,
		"name: x":                                     nil,
		"name: x\ntools: []":                          {},
		"name: x\ntools: \"\"":                        {},
		"name: x\ntools: Read, mcp__github__get_file": {"Read", "mcp__github__get_file"},
	} {
		require.Equal(t, want, agent(t, front).toolNames, front)
	}
	require.Equal(t, []string{"git add", "pytest"}, agent(t, "name: x\ntools: Bash(git add:*), Bash(pytest *), Bash").commands)
}

func TestAgentFields(t *testing.T) {
	a := agent(t, lines("name: code-reviewer", "description: Use it when: a change is ready # really", "model: opus", "color: red", "hooks: {Stop: [{a: b}]}", "write_path: [x]", "tools: Read"))
	require.Equal(t, "Use it when: a change is ready # really", a.description, "a colon in it is common")
	require.Equal(t, "opus", a.model)
	require.Equal(t, []extraField{
		{"color", "red", access.Position{File: "a.md", Line: 5, Column: 1}},
		{"hooks", "{Stop: [{a: b}]}", access.Position{File: "a.md", Line: 6, Column: 1}},
		{"write_path", "[x]", access.Position{File: "a.md", Line: 7, Column: 1}},
	}, a.extra)
	var notes []string
	for _, n := range a.notes {
		notes = append(notes, string(n.Severity)+" "+n.String())
	}
	require.Equal(t, []string{
		"note a.md:3:1: the description is no valid YAML; it is read as it stands (quote it, or write it after 'description: |')",
		"note a.md:5:1: field 'color' means nothing here and is ignored",
		"note a.md:6:1: field 'hooks' means nothing here and is ignored",
		"warning a.md:7:1: field 'write_path' means nothing here and is ignored (did you mean 'write_paths'?)",
	}, notes)
}

func TestAgentRefused(t *testing.T) {
	for text, want := range map[string]string{
		"# no front matter":                           "a.md:1:1: the agent definition has no front matter",
		"---\nname: x\n":                              "a.md:1:1: the front matter does not end",
		"---\n---\n":                                  "a.md:1:1: the front matter is empty",
		"---\ntools: Read\n---\n":                     "a.md:1:1: key 'name' is missing",
		"---\nname: parent\n---\n":                    "a.md:2:1: name: 'parent' is a reserved word and can be no agent's id",
		"---\nname: a\nname: b\n---\n":                "a.md:3:1: key 'name' is given twice",
		"---\nname: x\ntools: {a: b}\n---\n":          "a.md:3:8: tools is a mapping; want a string",
		"---\nname: x\ntools:\n---\n":                 "tools is empty",
		"---\nname: x\nwrite_paths: [1]\n---\n":       "a.md:3:15: write_paths[0] is a integer; want a string",
		"---\nname: x\nwrite_paths: ['a[']\n---\n":    "a.md:3:15: write_paths[0]: 'a[' is not a valid glob",
		"---\nname: x\nx: &a b\n---\n":                "a.md:3:4: anchors are not allowed",
		"---\nname: x\n" + strings.Repeat("x", 1<<20): "the agent definition has",
	} {
		_, err := ParseAgent("a.md", []byte(text))
		require.ErrorContains(t, err, want)
	}
	_, err := ParseAgent("a.md", []byte("\ufeff---\r\nname: x\r\ntools: Read\r\n---\r\n"))
	require.NoError(t, err, "as Windows writes it")
}

// P3-P6, P16: every agent type has its profile; an unknown one is READ_ONLY.
func TestAgentTypes(t *testing.T) {
	for profile, types := range map[string]string{
		"READ_ONLY":    "code-reviewer systems-designer ux-reviewer spec-verifier e2e-analyzer qa-auditor code-explorer code-architect intake notify nobody-knows-it",
		"WRITE":        "coder frontend-coder",
		"VERIFICATION": "validator issue-verifier verify",
		"DESIGN":       "ux-designer ux-implementer planner plan",
	} {
		for agentType := range strings.FieldsSeq(types) {
			require.Equal(t, profile, profileFor(agentType), agentType)
		}
	}
	for _, c := range []struct{ name, tools, without, writes, refused string }{
		{"code-reviewer", "Read Grep Glob Bash read_file", "Write Edit NotebookEdit write_file Task", "", "a docs/a"},               // P3
		{"coder", "Read Grep Glob Write Edit Bash NotebookEdit write_file", "Task WebFetch nexus_create", "a src/b", ".git/config"}, // P4
		{"validator", "Read Grep Glob Bash", "Write Edit edit_file", "", "a docs/a"},                                                // P5
		{"planner", "Read Grep Glob Write Bash", "Edit edit_file Task", "docs/plan.md", "a src/b"},                                  // P6
		{"who-is-this", "Read Grep Glob Bash", "Write Edit", "", "a docs/a"},                                                        // P10
	} {
		p, _ := effective(t, "name: "+c.name)
		for name := range strings.FieldsSeq(c.tools) {
			require.Equal(t, access.Allow, tool(p, name), "%s %s", c.name, name)
		}
		for name := range strings.FieldsSeq(c.without) {
			require.Equal(t, access.Deny, tool(p, name), "%s %s", c.name, name)
		}
		for place := range strings.FieldsSeq(c.writes) {
			require.Equal(t, access.Allow, file(p, access.FSWrite, place).Effect, "%s %s", c.name, place)
		}
		for place := range strings.FieldsSeq(c.refused) {
			require.Equal(t, access.Deny, file(p, access.FSWrite, place).Effect, "%s %s", c.name, place)
			require.Equal(t, access.Allow, file(p, access.FSRead, place).Effect, "%s %s", c.name, place)
		}
	}
}

// P10: effective is profile and front matter, and where they do not agree it is
// said.
func TestAgentEffective(t *testing.T) {
	renamed, found := effective(t, "name: x\nprofile: yolo\ntools: Agent")
	require.Empty(t, found)
	require.Equal(t, []access.Effect{access.Allow, access.Deny}, []access.Effect{tool(renamed, "Task"), tool(renamed, "Read")}, "Claude Code's new name")
	without, _ := effective(t, "name: x\nprofile: yolo\ndisallowedTools: Agent")
	require.Equal(t, []access.Effect{access.Deny, access.Allow}, []access.Effect{tool(without, "Task"), tool(without, "Read")})

	p, found := effective(t, "name: coder\ntools: Read, Edit\nwrite_paths: [src]")
	require.Empty(t, found)
	require.Equal(t, []access.Effect{access.Allow, access.Allow, access.Deny, access.Deny}, []access.Effect{tool(p, "Read"), tool(p, "edit_file"), tool(p, "Bash"), tool(p, "write_file")})
	require.Equal(t, access.Allow, file(p, access.FSWrite, "src/a").Effect)
	require.Equal(t, pathresolver.RuleNoWritePath, file(p, access.FSWrite, "docs/a").Code)

	p, found = effective(t, "name: code-reviewer\ntools: Read, Write, Reed\nwrite_paths: [src]")
	require.Equal(t, []string{
		"warning a.md:4:15: 'src' may not be written in 'READ_ONLY' (the profile decides: it is left out)",
		"warning a.md:3:8: unknown tool 'Reed' (did you mean 'Read'?)",
		"warning a.md:3:8: tool 'Write' goes beyond the profile 'READ_ONLY' (the profile decides: it is left out)",
	}, found)
	require.Equal(t, access.Deny, tool(p, "Write"))
	require.Equal(t, access.Deny, file(p, access.FSWrite, "src/a").Effect)

	_, found = effective(t, "name: my-agent")
	require.Equal(t, []string{"warning a.md:2:1: agent 'my-agent' has no profile and is of no known type: it is READ_ONLY (add 'profile: WRITE', or another)"}, found)

	p, found = effective(t, "name: my-agent\nprofile: worker\nwrite_paths: [out]")
	require.Empty(t, found, "a preset that lists no write paths takes the agent's")
	require.Equal(t, access.Allow, file(p, access.FSWrite, "out/a").Effect)
	_, _, err := agent(t, "name: my-agent\nprofile: worker").Policy(Options{})
	require.ErrorContains(t, err, "a.md:3:1: preset 'worker' needs at least one allowed_write_path")
	_, _, err = agent(t, "name: my-agent\nprofile: WRIT").Policy(Options{})
	require.ErrorContains(t, err, "a.md:3:1: profile: 'WRIT' is no preset and no profile (did you mean 'WRITE'?)")
	_, _, err = agent(t, "name: coder\nwrite_paths: [../x]").Policy(Options{Root: "/p"})
	require.ErrorContains(t, err, "a.md:3:15: allowed_write_path '../x' is outside sandbox root '/p'")

	p, _ = effective(t, "name: coder\ndisallowedTools: Bash, Edit")
	require.Equal(t, []access.Effect{access.Allow, access.Deny, access.Deny}, []access.Effect{tool(p, "Write"), tool(p, "Bash"), tool(p, "edit_file")})
	require.Equal(t, pathresolver.RuleProtected, file(p, access.FSWrite, "a.md").Code, "M11: an agent does not write its own definition")
}

// A profile may be a file beside the agent's.
func TestAgentProfileFile(t *testing.T) {
	fsys := fstest.MapFS{"agents/team.yaml": {Data: []byte("version: 1\nextends: WRITE\nfs: {write: [src]}\nnetwork: false")}}
	a, err := ParseAgent("agents/a.md", []byte("---\nname: a\nprofile: team.yaml\nwrite_paths: [src/x, lib]\n---\n"))
	require.NoError(t, err)
	p, found, err := a.Policy(Options{FS: fsys})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, access.Position{File: "agents/a.md", Line: 4, Column: 22}, found[0].Position)
	require.Equal(t, access.Allow, file(p, access.FSWrite, "src/x/y").Effect)
	require.Equal(t, access.Deny, file(p, access.FSWrite, "src/y").Effect)
	require.Equal(t, access.Deny, file(p, access.FSWrite, "lib/y").Effect)
	require.Equal(t, NetworkNone, p.Network().Mode)
	require.Equal(t, pathresolver.RuleProtected, file(p, access.FSWrite, "agents/team.yaml").Code)
}

// P10: what Bash is to run beyond the profile is said, with what is left of it;
// a profile that lists no commands leaves them to the agent.
func TestBashCommandsBeyondTheProfileP10(t *testing.T) {
	_, found := effective(t, "name: coder\ntools:\n  - Read\n  - Bash(git add -p:*)\n  - Bash(git:*)\n  - Bash(curl *)\n  - Bash")
	require.Equal(t, []string{
		"warning a.md:6:5: command 'git' of Bash goes beyond the profile 'WRITE' (the profile decides, and leaves 'git add', 'git commit')",
		"warning a.md:7:5: command 'curl' of Bash goes beyond the profile 'WRITE' (the profile decides, and leaves none of it)",
	}, found)
	_, found = effective(t, "name: coder\ntools: Bash(git add:*), Bash(pytest *)")
	require.Empty(t, found)

	a := agent(t, "name: x\nprofile: own.yaml\ntools: Bash(curl:*)")
	for listed, want := range map[string]int{"": 0, "\nbash_commands: [ls]": 1} {
		files := fstest.MapFS{"own.yaml": {Data: []byte("version: 1\nfs: {read: [.]}\ntools: {Bash: {enabled: true}}" + listed)}}
		_, problems, err := a.Policy(Options{FS: files})
		require.NoError(t, err)
		require.Len(t, problems, want, listed)
	}
}
