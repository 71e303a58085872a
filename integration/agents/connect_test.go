package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/agents/model"
)

// with is a start by the agent's word, with flags of pinfold's.
func with(flags ...string) way {
	by := word
	by.command = func(w *world, a agent, env, args []string) []string {
		argv := word.command(w, a, env, args)
		at := slices.Index(argv, a.name) + 1
		return slices.Insert(argv, at, flags...)
	}
	return by
}

// transcript is a script with what its model was told of each call.
func transcript(w *world, script []model.Call, results []model.Result) string {
	var b strings.Builder
	for i, c := range script {
		fmt.Fprintf(&b, "> %s\n%s\n\n", c, strings.TrimRight(results[i].Text, "\n"))
	}
	return neutral(w, b.String())
}

// TestAgentsCallPinfold holds that --mcp connects pinfold's own server to each agent,
// that it holds the rules of the run, and that each model is told of a refusal once.
func TestAgentsCallPinfold(t *testing.T) {
	for _, a := range quick() {
		for _, uid := range users() {
			t.Run(fmt.Sprintf("%s-%s", a.name, person(uid)), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, uid)
				script := []model.Call{
					{Tool: a.mcp + "write_file", Input: object{"path": "src/made.txt", "content": "made\n"}},
					{Tool: a.mcp + "write_file", Input: object{"path": ".git/hooks/pre-push", "content": "#!/bin/sh\n"}},
					{Tool: a.mcp + "read_file", Input: object{"path": ".env"}},
				}
				shell := a.tools.shell("true")
				m := a.model(t, append(script, shell...)) // which the agent offers by itself
				by := with("--mcp")
				results := session(t, w.started(a, by, w.settle(t, a, by, m), append(a.args, task)...), m)
				assert.True(t, w.holds(w.project+"/src/made.txt", "made"), results[0].Text)
				assert.NoFileExists(t, w.project+"/.git/hooks/pre-push")
				assert.Equal(t, 1, strings.Count(results[1].Text, "is outside the allowed sandbox"), results[1].Text)
				assert.Equal(t, 1, strings.Count(results[1].Text, "the name is protected"), results[1].Text)
				assert.NotContains(t, results[2].Text, hiddenSecret)
				compare(t, filepath.Join("testdata", a.name+"-mcp.txt"), transcript(w, script, results))
			})
		}
	}
}

// TestAgentsOwnSandboxes holds that an agent whose own sandbox is turned on, by its
// user's settings, by the project's or by a flag, works inside as if it were off: its
// commands succeed, and what the run refuses is refused. The control is Codex' with
// --nested, where it is not turned off: no command succeeds in it.
func TestAgentsOwnSandboxes(t *testing.T) {
	for name, c := range map[string]struct {
		agent    agent
		settings map[string]string // more of its home
		project  map[string]string
		by       way
		args     []string
		fails    bool
	}{
		"claude-settings": {agent: claude, by: word, args: claude.args, settings: map[string]string{
			".claude/settings.json": `{"sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false}}`,
		}},
		"claude-project": {agent: claude, by: word, args: claude.args, project: map[string]string{
			".claude/settings.json": `{"sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false}}`,
		}},
		"codex-settings": {agent: codex, by: word, args: codex.args, settings: map[string]string{
			".codex/config.toml": "sandbox_mode = \"workspace-write\"\n",
		}},
		"codex-flag":   {agent: codex, by: word, args: append([]string{"exec", "--sandbox", "workspace-write"}, codex.args[1:]...)},
		"codex-nested": {agent: codex, by: with("--nested"), args: append([]string{"exec", "--sandbox", "workspace-write"}, codex.args[1:]...), fails: true},
		"gemini-settings": {agent: gemini, by: word, args: gemini.args, settings: map[string]string{
			".gemini/settings.json": `{"tools": {"sandbox": true},`,
		}},
		"gemini-flag": {agent: gemini, by: word, args: append([]string{"--sandbox"}, gemini.args...)},
	} {
		for _, uid := range users() {
			if c.fails && uid == 0 {
				continue // --nested is not for root
			}
			t.Run(name+"-"+person(uid), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, uid)
				a := c.agent
				a.settings = map[string]string{}
				for file, text := range c.agent.settings {
					if c.settings[file] != "" {
						text = strings.TrimPrefix(text, "{") // the added begins the object
					}
					a.settings[file] = c.settings[file] + text
				}
				for file, text := range c.settings {
					if a.settings[file] == "" {
						a.settings[file] = text
					}
				}
				for file, text := range c.project {
					w.write(t, w.project+"/"+file, text)
				}
				m := a.model(t, slices.Concat(
					a.tools.shell("cp src/haystack.c src/copy.c && cat src/copy.c"),
					a.tools.shell("printf '#!/bin/sh\n' >.git/hooks/pre-push"),
					a.tools.shell("cat .env"),
				))
				results := session(t, w.started(a, c.by, w.settle(t, a, c.by, m), append(c.args, task)...), m)
				assert.Equal(t, !c.fails, w.holds(w.project+"/src/copy.c", "needle"), results[0].Text)
				assert.NoFileExists(t, w.project+"/.git/hooks/pre-push")
				assert.NotContains(t, results[2].Text, hiddenSecret)
				if !c.fails {
					assert.Contains(t, results[1].Text, "Read-only file system")
				}
			})
		}
	}
}

// TestClaudeIsToldWhy holds that Claude Code's hook tells its model which rule refused
// a call of its own tools.
func TestClaudeIsToldWhy(t *testing.T) {
	w := newWorld(t, users()[len(users())-1])
	m := claude.model(t, slices.Concat(
		claude.tools.read(w.project+"/.env"),
		claude.tools.edit(w.project+"/README.md", "Hello", "Changed"),
		claude.tools.write(w.project+"/.git/hooks/post-commit", "#!/bin/sh\n"),
		claude.tools.read(w.project+"/src/missing"), // which no rule refuses
		claude.tools.write(w.project+"/src/new.txt", "made\n"),
	))
	by := with("-w", "src")
	session(t, w.started(claude, by, w.settle(t, claude, by, m), append(claude.args, task)...), m)
	compare(t, filepath.Join("testdata", "claude-hook.txt"), neutral(w, m.Remarks()))
	require.True(t, w.holds(w.project+"/src/new.txt", "made"))
}

// TestClaudeAsksForPermission holds that with --mcp Claude Code asks pinfold, where it
// would ask its user and has none, and does what the rules allow; without it, nothing.
// About reads in the project it asks nobody: the view refuses these.
func TestClaudeAsksForPermission(t *testing.T) {
	for _, by := range []way{with("--mcp"), word} {
		asks := by.name == "word" && len(by.command(&world{}, claude, nil, nil)) > len(word.command(&world{}, claude, nil, nil))
		t.Run(fmt.Sprintf("asks=%t", asks), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, users()[len(users())-1])
			m := claude.model(t, slices.Concat(
				claude.tools.write(w.project+"/src/new.txt", "made\n"),
				claude.tools.write(w.project+"/.git/hooks/post-commit", "#!/bin/sh\n"),
				claude.tools.shell("echo made >src/other.txt"),
				claude.tools.read(w.project+"/.env"),
			))
			results := session(t, w.started(claude, by, w.settle(t, claude, by, m), "-p", task), m)
			assert.Equal(t, asks, w.holds(w.project+"/src/new.txt", "made"), results[0].Text)
			assert.Equal(t, asks, w.holds(w.project+"/src/other.txt", "made"), results[2].Text)
			assert.NoFileExists(t, w.project+"/.git/hooks/post-commit")
			assert.NotContains(t, results[3].Text, hiddenSecret)
			if asks {
				assert.Contains(t, results[1].Text, "the name is protected")
			}
			_, err := os.Stat(w.project + "/src/greet.txt")
			require.NoError(t, err)
		})
	}
}
