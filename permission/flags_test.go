package permission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// P11: the flags of Claude Code for each profile; headless never prompts, and
// nothing beyond the profile is offered.
func TestFlagsClaude(t *testing.T) {
	p, _ := effective(t, "name: coder\ntools: Read, Grep, Edit, Bash\nwrite_paths: [src]")
	l := FlagsClaude(p, LaunchOptions{Root: "/p", Headless: true, Model: "opus"})
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

	for _, name := range Builtins() {
		for _, headless := range []bool{false, true} {
			l := FlagsClaude(preset(t, name, "out"), LaunchOptions{Root: "/p", Headless: headless, Model: "inherit"})
			all := strings.Join(l.Args, " ")
			require.NotContains(t, all, "bypassPermissions", name)
			require.NotContains(t, all, "--model")
			require.Equal(t, headless, strings.HasSuffix(all, "--permission-mode dontAsk"), name)
		}
	}
	readOnly := strings.Join(FlagsClaude(preset(t, "READ_ONLY"), LaunchOptions{}).Args, " ")
	require.Contains(t, readOnly, "--tools Bash,TaskOutput,TaskStop,Glob,Grep,Read ")
	require.Contains(t, readOnly, "--disallowedTools Edit,NotebookEdit,Task,TodoWrite,WebFetch,WebSearch,Write ")
	require.Contains(t, FlagsClaude(preset(t, "sandboxed"), LaunchOptions{}).Notes, "the network is off in this policy, and claude needs it to reach its model")

	narrow, _ := effective(t, "name: coder\ntools: Bash(git add -p:*), Bash(git:*)")
	require.Equal(t, "Bash(git add:*),Bash(git commit:*),Bash(git add -p:*)", FlagsClaude(narrow, LaunchOptions{}).Args[3])

	lists := FlagsClaude(compile(t, "version: 1\nextends: READ_ONLY\ntools: {TodoWrite: {}}"), LaunchOptions{})
	require.Contains(t, lists.Args[1], "TodoWrite,TaskCreate,TaskGet,TaskList,TaskUpdate", "as Claude Code calls it now")

	// What has to be confirmed is offered, but not allowed beforehand.
	ask := FlagsClaude(compile(t, "version: 1\nextends: READ_ONLY\ntools: {Grep: {requires_confirmation: true}}"), LaunchOptions{})
	require.Contains(t, ask.Args[1], "Grep")
	require.NotContains(t, ask.Args[3], "Grep")
}

func TestFlagsCodex(t *testing.T) {
	require.Equal(t, []string{"--sandbox", "read-only", "-c", "approval_policy=on-request", "--cd", "/p"},
		FlagsCodex(preset(t, "READ_ONLY"), LaunchOptions{Root: "/p"}).Args)
	l := FlagsCodex(preset(t, "WRITE", "src"), LaunchOptions{Root: "/p", Headless: true})
	require.Equal(t, []string{"--sandbox", "workspace-write", "-c", "approval_policy=never", "-c", "sandbox_workspace_write.network_access=true", "--cd", "/p"}, l.Args)
	require.Contains(t, l.Notes, "codex cannot be told the write paths src: the view holds them")
	require.NotContains(t, FlagsCodex(preset(t, "worker", "src"), LaunchOptions{}).Args, "sandbox_workspace_write.network_access=true")
}

func TestFlagsGemini(t *testing.T) {
	require.Equal(t, []string{"--approval-mode", "plan"}, FlagsGemini(preset(t, "READ_ONLY"), LaunchOptions{Headless: true}).Args)
	require.Equal(t, []string{"--approval-mode", "default"}, FlagsGemini(preset(t, "WRITE"), LaunchOptions{}).Args)
	require.Equal(t, []string{"--approval-mode", "auto_edit"}, FlagsGemini(preset(t, "WRITE"), LaunchOptions{Headless: true}).Args)
}
