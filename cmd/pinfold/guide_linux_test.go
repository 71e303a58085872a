package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// block is a fenced block of a guide, with the line of text before it.
type block struct{ before, language, text string }

func blocksOf(page string) (list []block) {
	before, inside := "", false
	for line := range strings.Lines(page) {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && !inside:
			list, inside = append(list, block{before: before, language: strings.TrimSpace(fence)}), true
		case isFence:
			before, inside = "", false
		case inside:
			list[len(list)-1].text += line
		case strings.TrimSpace(line) != "":
			before = strings.TrimSpace(line)
		}
	}
	return list
}

// section is what stands between two lines of a page.
func section(t *testing.T, file, from, to string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(data), "\n"+from+"\n")
	require.True(t, found, "%s has no %q", file, from)
	page, _, found := strings.Cut(rest, "\n"+to+"\n")
	require.True(t, found, "%s has no %q", file, to)
	return page
}

// repository is a git repository that has something to protect.
func repository(t *testing.T) *shell {
	t.Helper()
	sh := &shell{dir: filepath.Join(t.TempDir(), "project")}
	clitest.Tree{"src/main.go": "package main\n", "docs/index.md": "# Docs\n", ".env": "KEY=secret\n", ".gitignore": ".env\n"}.Make(t, sh.dir)
	sh.run(t, "git init -q -b main . && git add . && git commit -q -m first")
	return sh
}

// shell runs commands in a directory.
type shell struct {
	dir string
	env []string
}

// run is what a shell prints, on both streams.
func (s *shell) run(t *testing.T, script string) string {
	t.Helper()
	out, err := s.try(t, script)
	require.NoError(t, err, "%s\n%s", script, out)
	return out
}

func (s *shell) try(t *testing.T, script string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(s.dir), "NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	cmd.Env = append(cmd.Env, s.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// session runs the commands of a console block and compares what they print. A
// line of dots stands for any lines.
func (s *shell) session(t *testing.T, text string) {
	t.Helper()
	var script strings.Builder
	var commands, wants []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands, wants = append(commands, command), append(wants, "")
			// The status goes on to the next command, which may print it.
			fmt.Fprintf(&script, "%s\nstatus=$?; echo '@@@@'; (exit $status)\n", strings.TrimSpace(command))
			continue
		}
		require.NotEmpty(t, wants, "a console begins with a command: %s", text)
		wants[len(wants)-1] += line
	}
	out, _ := s.try(t, script.String())
	got := strings.Split(out, "@@@@\n")
	require.Len(t, got, len(commands)+1, "%s", out)
	for i, command := range commands {
		want := "^" + strings.ReplaceAll(regexp.QuoteMeta(wants[i]), `  \.\.\.`+"\n", `(.*\n)*`) + "$"
		require.Regexp(t, want, got[i], "$ %s", command)
	}
}

// TestScriptOfTheGuide does what docs/policy.md says, from three lines to a
// repository with three agents, a check that fails when something widens, and
// agents that run: each file is written, each command run, its output compared.
func TestScriptOfTheGuide(t *testing.T) {
	sh := repository(t)
	sessions := 0
	for _, b := range blocksOf(section(t, "../../docs/policy.md", "## Three lines", "## How a verdict comes about")) {
		name := regexp.MustCompile("^`([^`]+)`:$").FindStringSubmatch(b.before)
		switch {
		case b.language == "console":
			sh.session(t, b.text)
			sessions++
		case name != nil:
			clitest.Tree{name[1]: b.text}.Make(t, sh.dir)
		}
	}
	require.Equal(t, 5, sessions)
}

// stepOf is what a step of the job in docs/ci.md runs.
func stepOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../docs/ci.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(data), "\n      - name: "+name+"\n")
	require.True(t, found, name)
	rest, _, _ = strings.Cut(rest, "\n```")
	rest, _, _ = strings.Cut(rest, "\n      - ")
	_, script, found := strings.Cut(rest, "        run: ")
	require.True(t, found, name)
	return "set -eo pipefail\n" + strings.ReplaceAll(strings.TrimPrefix(script, "|\n"), "          ", "")
}

// TestScriptOfThePullRequest runs the steps of the job in docs/ci.md as a runner
// would, in the merge of a pull request: one that narrows passes, and one that
// widens is told in a comment and fails.
func TestScriptOfThePullRequest(t *testing.T) {
	sh := repository(t)
	clitest.Tree{
		".pinfold.yaml":  "version: 1\ncheck: {policies: [policy.yaml], agents: [agents]}\n",
		"policy.yaml":    "version: 1\nextends: sandboxed\nfs: {write: [docs]}\n",
		"agents/wr.md":   "---\nname: wr\nprofile: ../policy.yaml\n---\n",
		"../bin/gh":      "#!/bin/sh\nwhile [ \"$1\" != --body-file ]; do shift; done\ncat \"$2\" > \"$COMMENT\"\n",
		"../bin/comment": "",
	}.Make(t, sh.dir)
	bin := filepath.Join(filepath.Dir(sh.dir), "bin")
	require.NoError(t, os.Chmod(filepath.Join(bin, "gh"), 0o755))
	sh.run(t, "git add . && git commit -q -m base")

	job := func(branch, policy string) (outputs, comment string, failed bool) {
		temp := t.TempDir()
		sh.env = []string{"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + temp + "/output", "COMMENT=" + temp + "/posted",
			"NUMBER=1", "PATH=" + bin + ":" + os.Getenv("PATH")}
		clitest.Tree{branch + ".yaml": policy}.Make(t, temp)
		sh.run(t, "git checkout -q -b "+branch+" main && cp "+temp+"/"+branch+".yaml policy.yaml && git commit -qam "+branch+
			" && git checkout -q --detach main && git merge -q --no-ff -m merge "+branch)
		sh.run(t, stepOf(t, "Check"))
		sh.run(t, stepOf(t, "Compare"))
		sh.run(t, stepOf(t, "Comment"))
		out, err := os.ReadFile(temp + "/output")
		require.NoError(t, err)
		said, _ := os.ReadFile(temp + "/posted") // there need not be any
		fail := strings.ReplaceAll(stepOf(t, "Fail where something widens"), "${{ steps.compare.outputs.widens }}", strings.TrimPrefix(strings.TrimSpace(string(out)), "widens="))
		_, err = sh.try(t, fail)
		return string(out), string(said), err != nil
	}

	outputs, comment, failed := job("same", "version: 1\nextends: sandboxed\nfs:\n  write: [docs]\n")
	require.Equal(t, "widens=0\n", outputs)
	require.Empty(t, comment)
	require.False(t, failed)

	outputs, comment, failed = job("narrower", "version: 1\nextends: sandboxed\nfs: {write: [docs/api]}\n")
	require.Equal(t, "widens=0\n", outputs)
	require.Contains(t, comment, "\n    policy.yaml:\n      narrows: writing 'docs'")
	require.False(t, failed)

	outputs, comment, failed = job("wider", "version: 1\nextends: sandboxed\nfs: {write: [docs, src]}\n")
	require.Equal(t, "widens=1\n", outputs)
	require.Contains(t, comment, "\n    agents/wr.md:\n      widens: writing 'src'")
	require.True(t, failed)
}

// TestScriptOfInstalling runs what docs/install.md shows of doctor where all is well.
func TestScriptOfInstalling(t *testing.T) {
	blocks := blocksOf(section(t, "../../docs/install.md", "## What `pinfold doctor` says", "## In a container"))
	sh := &shell{dir: t.TempDir()}
	sh.session(t, strings.ReplaceAll(blocks[0].text, "\n...\n", "\n  ...\n"))
}

// TestCompletion installs the completion for bash as docs/install.md says, and presses Tab
// in a shell of a user who has bash-completion.
func TestCompletion(t *testing.T) {
	page := section(t, "../../docs/install.md", "## Shell completion and man pages", "## Try it")
	install, _, found := strings.Cut(strings.ReplaceAll("\n"+blocksOf(page)[0].text, "\n$ ", "\n"), "make man")
	require.True(t, found)
	home := t.TempDir()
	sh := &shell{dir: filepath.Join(home, "project")}
	clitest.Tree{"a": "", "../rc": "PS1='> '\n. /usr/share/bash-completion/bash_completion\n"}.Make(t, sh.dir)
	tab := func() *terminal {
		x := programOnTerminal(t, "bash", []string{"HOME=" + home, "TERM=dumb", "XDG_DATA_HOME="}, "--rcfile", filepath.Join(home, "rc"), "-i")
		at := x.shows(0, "> ")
		x.press("pinfold policy exp\t\t")
		x.shows(at, "pinfold policy exp")
		return x
	}
	x := tab()
	x.press("; echo over\r")
	x.shows(0, "over\r\n")
	require.NotContains(t, x.raw(), "explain", "the control: nothing completes it yet")

	require.Contains(t, install, "completion bash")
	sh.run(t, install)
	x = tab()
	at := x.shows(0, "explain")
	x.press("\x15exit\r")
	x.shows(at, "exit")
	require.Equal(t, cli.ExitOK, x.leaves())
	sh.run(t, "pinfold completion zsh | grep -q '^#compdef pinfold' && pinfold completion fish | grep -q '^complete -c pinfold'")
}

// TestScriptOfTheAction runs the check of .ci/action as a runner would.
func TestScriptOfTheAction(t *testing.T) {
	const file = "../../.ci/action/action.yml"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(data), `go build -C "$GITHUB_ACTION_PATH/../.."`)
	require.FileExists(t, filepath.Join(filepath.Dir(file), "../..", "go.mod"))
	_, check, found := strings.Cut(string(data), "    - name: Check\n")
	require.True(t, found)
	_, check, found = strings.Cut(check, "      run: |\n")
	require.True(t, found)

	sh := repository(t)
	temp := t.TempDir()
	clitest.Tree{"pinfold-bin/pinfold": "#!/bin/sh\nexec pinfold \"$@\"\n"}.Make(t, temp)
	require.NoError(t, os.Chmod(temp+"/pinfold-bin/pinfold", 0o755))
	sh.env = []string{"RUNNER_TEMP=" + temp, "DIRECTORY=.", "ARGS=-w src -w docs"}
	sh.run(t, "set -eo pipefail\n"+check)
	sh.env = []string{"RUNNER_TEMP=" + temp, "DIRECTORY=.", "ARGS=-w src -w ../other"}
	out, err := sh.try(t, "set -eo pipefail\n"+check)
	require.Error(t, err)
	require.Contains(t, out, "::error")
}

// TestScriptOfTroubleshooting meets what docs/troubleshooting.md says of pip, and its
// way out, and runs what it shows.
func TestScriptOfTroubleshooting(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	require.NoError(t, err)
	sh := &shell{dir: t.TempDir()}
	out, err := sh.try(t, "pinfold run -w . -- /usr/bin/python3 -m pip install nothing")
	require.Error(t, err)
	require.Contains(t, out, "externally-managed-environment")
	require.Contains(t, string(page), "| `externally-managed-environment` from pip |")
	require.Contains(t, string(page), "`python3 -m venv .venv`")
	at := projectOf(t, clitest.Tree{"src/main.go": "package main\n", "../bin/hi": "#!/bin/sh\necho hi\n"})
	bin := filepath.Join(filepath.Dir(at.dir), "bin")
	require.NoError(t, os.Chmod(filepath.Join(bin, "hi"), 0o755))
	at.env = []string{"PATH=" + os.Getenv("PATH") + ":" + bin}
	at.consoles(t, "../../docs/troubleshooting.md", "$ echo $?", "$ pinfold run -- hi; echo $?")
	sh.run(t, "pinfold run -w . -- /usr/bin/python3 -m venv .venv && pinfold run -w . -- .venv/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'")
}
