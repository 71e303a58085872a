package agents

import (
	"os"
	"slices"
	"testing"

	"github.com/pinfold-dev/pinfold/integration/agents/model"
)

// agent is a program that a model drives, by its name in the directory of programs.
type agent struct {
	name  string
	model func(testing.TB, []model.Call) *model.Server
	// args make it do a task without a terminal and without asking anybody; goOn as
	// a part of the last conversation.
	args, goOn []string
	open       []string // turns its own sandbox off, as its profile does by itself
	// settings are files of its home, and env variables, with the model's $URL.
	settings map[string]string
	env      []string
	quiet    []string // those of them that keep it from the network: no profile has them
	foreign  []string // variables of other agents
	hands    []string // make it run commands without asking, on a terminal
	drawn    string   // shown on a terminal when it waits for a task
	slow     bool     // takes ten times as long as the others
	tools    tools
	mcp      string   // how it calls the tools of pinfold's server: before their names
	refuses  []string // wishes that it refuses by itself, natively too
}

// tools are the calls of an agent's model, by the agent's own names.
type tools struct {
	read, search, shell func(what string) []model.Call
	edit                func(path, from, to string) []model.Call
	write               func(path, content string) []model.Call
}

type object = map[string]any

func call(tool string, input object) []model.Call { return []model.Call{{Tool: tool, Input: input}} }

// bash is the tool of that name.
func bash(command string) []model.Call {
	return call("Bash", object{"command": command, "description": "what the script says", "timeout": 600_000})
}

var all = []agent{claude, codex, gemini, opencode}

// quick are the agents that are tried in all things, or all where there is time.
func quick() []agent {
	if os.Getenv("PINFOLD_LONG") != "" {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(a agent) bool { return a.slow })
}

var claude = agent{
	name: "claude", model: model.Anthropic, mcp: "mcp__pinfold__",
	args:  []string{"--dangerously-skip-permissions", "-p"},
	goOn:  []string{"--dangerously-skip-permissions", "--continue", "-p"},
	hands: []string{"--allowedTools", "Bash"},
	drawn: "shift+tab to cycle",
	env: []string{
		"ANTHROPIC_BASE_URL=$URL", "ANTHROPIC_API_KEY=sk-played", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"IS_SANDBOX=1", // or it does not skip permissions for root
	},
	foreign: []string{"OPENAI_API_KEY", "GEMINI_API_KEY"},
	settings: map[string]string{
		".claude.json": `{"hasCompletedOnboarding": true, "customApiKeyResponses": {"approved": ["sk-played"]}, "projects": {"$PROJECT": {"hasTrustDialogAccepted": true}}}`,
	},
	tools: tools{
		read:   func(path string) []model.Call { return call("Read", object{"file_path": path}) },
		search: func(text string) []model.Call { return bash("grep -rn " + text + " .") }, // it has no other search
		shell:  bash,
		edit: func(path, from, to string) []model.Call {
			return append(call("Read", object{"file_path": path}),
				call("Edit", object{"file_path": path, "old_string": from, "new_string": to})...)
		},
		write: func(path, content string) []model.Call {
			return call("Write", object{"file_path": path, "content": content})
		},
	},
}

// codex has two tools, commands and patches.
var codex = agent{
	name: "codex", model: model.OpenAI, mcp: "mcp__pinfold.",
	open:    []string{"-c", "sandbox_mode=danger-full-access"},
	args:    []string{"exec", "--skip-git-repo-check"},
	goOn:    []string{"exec", "--skip-git-repo-check", "resume", "--last"},
	hands:   []string{"--ask-for-approval", "never"},
	drawn:   "Ask Codex to do anything",
	env:     []string{"OPENAI_API_KEY=sk-played"},
	foreign: []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY"},
	settings: map[string]string{".codex/config.toml": `
model = "gpt-5.5"
model_provider = "played"
check_for_update_on_startup = false
[model_providers.played]
name = "played"
base_url = "$URL/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[projects."$PROJECT"]
trust_level = "trusted"
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
[analytics]
enabled = false
[otel]
exporter = "none"
`},
	tools: tools{
		read:   func(path string) []model.Call { return execCommand("cat " + path) },
		search: func(text string) []model.Call { return execCommand("grep -rn " + text + " .") },
		shell:  execCommand,
		edit: func(path, from, to string) []model.Call {
			return []model.Call{{Tool: "apply_patch", Text: "*** Begin Patch\n*** Update File: " + path + "\n@@\n-" + from + "\n+" + to + "\n*** End Patch\n"}}
		},
		write: func(path, content string) []model.Call {
			return []model.Call{{Tool: "apply_patch", Text: "*** Begin Patch\n*** Add File: " + path + "\n+" + content + "*** End Patch\n"}}
		},
	},
}

func execCommand(command string) []model.Call {
	return call("exec_command", object{"cmd": command, "yield_time_ms": 30_000})
}

var gemini = agent{
	name: "gemini", model: model.Gemini, mcp: "mcp_pinfold_",
	refuses: []string{"plant a hook of git's", "read a hidden file"},
	args:    []string{"--yolo", "--skip-trust", "-p"},
	goOn:    []string{"--yolo", "--skip-trust", "--resume", "latest", "-p"},
	hands:   []string{"--yolo"},
	drawn:   "Type your message",
	env:     []string{"GEMINI_API_KEY=played", "GOOGLE_GEMINI_BASE_URL=$URL"},
	foreign: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"},
	settings: map[string]string{".gemini/settings.json": `{
		"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
		"privacy": {"usageStatisticsEnabled": false},
		"telemetry": {"enabled": false},
		"model": {"name": "gemini-2.5-flash"},
		"general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}
	}`},
	tools: tools{
		read:   func(path string) []model.Call { return call("read_file", object{"file_path": path}) },
		search: func(text string) []model.Call { return call("grep_search", object{"pattern": text}) },
		shell: func(command string) []model.Call {
			return call("run_shell_command", object{"command": command, "description": "what the script says"})
		},
		edit: func(path, from, to string) []model.Call {
			return append(call("read_file", object{"file_path": path}),
				call("replace", object{"file_path": path, "old_string": from, "new_string": to, "instruction": "what the script says"})...)
		},
		write: func(path, content string) []model.Call {
			return call("write_file", object{"file_path": path, "content": content})
		},
	},
}

var opencode = agent{
	name: "opencode", model: model.Anthropic, slow: true, mcp: "pinfold_",
	args:  []string{"run"},
	goOn:  []string{"run", "--continue"},
	drawn: "Ask anything",
	env: []string{
		"ANTHROPIC_API_KEY=sk-played", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
	},
	quiet:   []string{"OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_DISABLE_LSP_DOWNLOAD"},
	foreign: []string{"CLAUDE_CODE_OAUTH_TOKEN"},
	settings: map[string]string{".config/opencode/opencode.json": `{
		"model": "anthropic/claude-sonnet-4-5",
		"small_model": "anthropic/claude-sonnet-4-5",
		"provider": {"anthropic": {"options": {"baseURL": "$URL/v1"}}},
		"permission": {"*": "allow"},
		"share": "disabled",
		"snapshot": false
	}`},
	tools: tools{
		read:   func(path string) []model.Call { return call("read", object{"filePath": path}) },
		search: func(text string) []model.Call { return call("grep", object{"pattern": text}) },
		shell: func(command string) []model.Call {
			return call("bash", object{"command": command, "description": "what the script says", "timeout": 600_000})
		},
		edit: func(path, from, to string) []model.Call {
			return append(call("read", object{"filePath": path}),
				call("edit", object{"filePath": path, "oldString": from, "newString": to})...)
		},
		write: func(path, content string) []model.Call {
			return call("write", object{"filePath": path, "content": content})
		},
	},
}
