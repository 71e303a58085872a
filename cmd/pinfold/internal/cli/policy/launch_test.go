package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/permission"
)

// P11: the flags of Claude Code for each profile; headless never prompts, and
// nothing beyond the profile is offered.
func TestFlagsClaude(t *testing.T) {
	p := effective(t, "name: coder\ntools: Read, Grep, Edit, Bash\nwrite_paths: [src]")
	l := flagsClaude(p, launchOptions{Root: "/p", Headless: true, Model: "opus"})
	require.Equal(t, []string{
		"--tools", "Bash,TaskOutput,TaskStop,Edit,Grep,Read",
		"--allowedTools", "Bash(pnpm:*),Bash(pytest:*),Bash(tsc:*),Bash(git add:*),Bash(git commit:*),Edit,Grep,Read",
		"--disallowedTools", "Glob,NotebookEdit,Task,TodoWrite,WebFetch,WebSearch,Write",
		"--add-dir", "/p", "--model", "opus",
		"--permission-mode", "dontAsk",
	}, l.Args)
	require.Equal(t, []string{
		"Bash patterns are advice, which a command can get round: the view is the boundary",
		"claude cannot be told the write paths src: the view holds them",
	}, l.Notes)

	for _, name := range permission.Builtins() {
		for _, headless := range []bool{false, true} {
			l := flagsClaude(preset(t, name, "out"), launchOptions{Root: "/p", Headless: headless, Model: "inherit"})
			all := strings.Join(l.Args, " ")
			require.NotContains(t, all, "bypassPermissions", name)
			require.NotContains(t, all, "--model")
			require.Equal(t, headless, strings.HasSuffix(all, "--permission-mode dontAsk"), name)
		}
	}
	readOnly := strings.Join(flagsClaude(preset(t, "READ_ONLY"), launchOptions{}).Args, " ")
	require.Contains(t, readOnly, "--tools Bash,TaskOutput,TaskStop,Glob,Grep,Read ")
	require.Contains(t, readOnly, "--disallowedTools Edit,NotebookEdit,Task,TodoWrite,WebFetch,WebSearch,Write ")
	require.Contains(t, flagsClaude(preset(t, "sandboxed"), launchOptions{}).Notes, "the network is off in this policy, and claude needs it to reach its model")

	require.Contains(t, strings.Join(flagsClaude(preset(t, "READ_ONLY"), launchOptions{Inside: true}).Args, " "), ` --settings {"sandbox":{"enabled":false}} --permission-mode `)

	narrow := effective(t, "name: coder\ntools: Bash(git add -p:*), Bash(git:*)")
	require.Equal(t, "Bash(git add:*),Bash(git commit:*),Bash(git add -p:*)", flagsClaude(narrow, launchOptions{}).Args[3])

	lists := flagsClaude(compile(t, "version: 1\nextends: READ_ONLY\ntools: {TodoWrite: {}}"), launchOptions{})
	require.Contains(t, lists.Args[1], "TodoWrite,TaskCreate,TaskGet,TaskList,TaskUpdate", "as Claude Code calls it now")

	// What is hidden is told where its patterns can say it.
	hides := flagsClaude(compile(t, "version: 1\nextends: READ_ONLY\nfs: {hide: ['**/.env', secrets/**]}"), launchOptions{})
	require.Contains(t, strings.Join(hides.Args, " "), ",Write,Read(**/.env),Read(./secrets/**) ")
	require.Contains(t, hides.Notes, "claude is told what is hidden for its own tools, and commands get round that: the view holds it")
	hides = flagsClaude(compile(t, "version: 1\nextends: READ_ONLY\nfs: {hide: ['**/.env', '*.{a,b}']}"), launchOptions{})
	require.Contains(t, strings.Join(hides.Args, " "), ",Write,Read(**/.env) ")
	require.Contains(t, hides.Notes, "claude cannot be told what is hidden, masked, protected or asked for: the view holds it")

	// What has to be confirmed is offered, but not allowed beforehand.
	ask := flagsClaude(compile(t, "version: 1\nextends: READ_ONLY\ntools: {Grep: {requires_confirmation: true}}"), launchOptions{})
	require.Contains(t, ask.Args[1], "Grep")
	require.NotContains(t, ask.Args[3], "Grep")
}

func TestFlagsCodex(t *testing.T) {
	require.Equal(t, []string{"--sandbox", "read-only", "-c", "approval_policy=on-request", "--cd", "/p"},
		flagsCodex(preset(t, "READ_ONLY"), launchOptions{Root: "/p"}).Args)
	l := flagsCodex(preset(t, "WRITE", "src"), launchOptions{Root: "/p", Headless: true})
	require.Equal(t, []string{"--sandbox", "workspace-write", "-c", "approval_policy=never", "-c", "sandbox_workspace_write.network_access=true", "--cd", "/p"}, l.Args)
	require.Contains(t, l.Notes, "codex cannot be told the write paths src: the view holds them")
	require.NotContains(t, flagsCodex(preset(t, "worker", "src"), launchOptions{}).Args, "sandbox_workspace_write.network_access=true")
	// inside a run it can make none of its own
	for _, name := range []string{"READ_ONLY", "WRITE"} {
		require.Equal(t, []string{"--sandbox", "danger-full-access", "-c", "approval_policy=on-request", "--cd", "/p"},
			flagsCodex(preset(t, name), launchOptions{Root: "/p", Inside: true}).Args)
	}
}

func TestFlagsGemini(t *testing.T) {
	require.Equal(t, []string{"--approval-mode", "plan"}, flagsGemini(preset(t, "READ_ONLY"), launchOptions{Headless: true}).Args)
	require.Equal(t, []string{"--approval-mode", "default"}, flagsGemini(preset(t, "WRITE"), launchOptions{}).Args)
	require.Equal(t, []string{"--approval-mode", "auto_edit"}, flagsGemini(preset(t, "WRITE"), launchOptions{Headless: true}).Args)
}

func TestFlagsOpencode(t *testing.T) {
	of := func(p *permission.Policy, opt launchOptions) map[string]any {
		l := flagsOpencode(p, opt)
		require.Len(t, l.Args, 1)
		var permissions map[string]any
		require.NoError(t, json.Unmarshal([]byte(l.Args[0]), &permissions))
		require.Equal(t, "deny", permissions["*"], "what the policy does not name")
		return permissions
	}
	readOnly := of(preset(t, "READ_ONLY"), launchOptions{})
	require.Equal(t, "allow", readOnly["read"])
	require.Equal(t, "deny", readOnly["edit"])
	require.Equal(t, "deny", readOnly["webfetch"])
	require.Equal(t, "allow", of(preset(t, "WRITE", "src"), launchOptions{})["edit"])

	hides := flagsOpencode(compile(t, "version: 1\nextends: READ_ONLY\nfs: {hide: ['**/.env', secrets/**]}"), launchOptions{})
	require.Contains(t, hides.Args[0], `"read":{"*":"allow","*/.env":"deny",".env":"deny","secrets/**":"deny"}`, "the last one counts")
	require.Contains(t, hides.Notes, "opencode is told what is hidden for its own tools, and commands get round that: the view holds it")

	p := effective(t, "name: coder\ntools: Read, Bash\nbash_commands: [go test]")
	require.Contains(t, flagsOpencode(p, launchOptions{}).Args[0], `"bash":{"*":"deny"`)
	ask := compile(t, "version: 1\nextends: READ_ONLY\ntools: {Grep: {requires_confirmation: true}}")
	require.Equal(t, "ask", of(ask, launchOptions{})["grep"])
	require.Equal(t, "deny", of(ask, launchOptions{Headless: true})["grep"])
}

func effective(t *testing.T, front string) *permission.Policy {
	t.Helper()
	agent, err := permission.ParseAgent("a.md", []byte("---\n"+front+"\n---\nBody"))
	require.NoError(t, err)
	p, _, err := agent.Policy(permission.Options{})
	require.NoError(t, err)
	return p
}

func preset(t *testing.T, name string, write ...string) *permission.Policy {
	t.Helper()
	var opt permission.Options
	if len(write) > 0 {
		opt.Caller = &permission.Document{FS: &permission.FS{Write: write}}
	}
	p, err := permission.Preset(name, opt)
	require.NoError(t, err)
	return p
}

func compile(t *testing.T, text string) *permission.Policy {
	t.Helper()
	src, err := permission.Decode("p.yaml", []byte(text))
	require.NoError(t, err)
	p, err := permission.Compile(src, permission.Options{})
	require.NoError(t, err)
	return p
}

// FuzzFlagsClaude holds that the flags of no agent ask for a mode without
// permissions.
func FuzzFlagsClaude(f *testing.F) {
	f.Add([]byte("---\nname: x\ntools: Read, Bash(git add:*)\nwrite_paths: [a]\ncolor: red\n---\nBody"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := permission.ParseAgent("a.md", data)
		if err != nil {
			return
		}
		if p, _, err := a.Policy(permission.Options{}); err == nil {
			l := flagsClaude(p, launchOptions{Root: "/"})
			require.Equal(t, []string{"--permission-mode", "default"}, l.Args[len(l.Args)-2:])
		}
	})
}
