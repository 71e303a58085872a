package agents

import (
	"testing"

	"github.com/pinfold-dev/pinfold/integration/agents/model"
)

// agent is a program that a model drives, by its name in the directory of programs.
type agent struct {
	name  string
	model func(*testing.T, []model.Call) *model.Server
	// args make it do a task without a terminal and without asking anybody.
	args []string
	// settings are files of its home, and env variables, with the model's $URL.
	settings map[string]string
	env      []string
	tools    tools
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
	return call("Bash", object{"command": command, "description": "what the script says"})
}

var all = []agent{claude}

var claude = agent{
	name: "claude", model: model.Anthropic,
	args: []string{"--dangerously-skip-permissions", "-p"},
	env: []string{
		"ANTHROPIC_BASE_URL=$URL", "ANTHROPIC_API_KEY=sk-played", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"IS_SANDBOX=1", // or it does not skip permissions for root
	},
	settings: map[string]string{
		".claude.json": `{"hasCompletedOnboarding": true, "projects": {"$PROJECT": {"hasTrustDialogAccepted": true}}}`,
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
