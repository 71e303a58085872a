package skills

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// shellSite is a project whose commands are judged.
type shellSite struct {
	*testing.T
	dir string
	env []string
}

func newShellSite(t *testing.T) *shellSite {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	wd, err := os.Getwd()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.Chdir(wd)) }) // the judge goes to the project
	s := &shellSite{T: t, dir: filepath.Join(base, "p"), env: gitEnvironment(base)}
	s.write("src/a", "plain\n")
	s.sh("git init -q && git add src && git commit -q -m one")
	s.write("mark", "#!/bin/sh\necho >\"${0%/*}/../ran\"\n")
	require.NoError(t, os.Chmod(filepath.Join(s.dir, "mark"), 0o755))
	return s
}

func (s *shellSite) write(name, content string) {
	s.Helper()
	require.NoError(s, os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o755))
	require.NoError(s, os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o644))
}

// sh runs a command for real, and reports whether it ran the agent's program.
func (s *shellSite) sh(command string) (ran bool) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	require.NoError(s, err, "%s", out)
	_, err = os.Lstat(filepath.Join(filepath.Dir(s.dir), "ran"))
	return err == nil
}

// judge is the hook's answer about a command at a place of the project, by a
// policy that lists all that is used here.
func (s *shellSite) judge(write, at, command string) (decision, reason string) {
	s.Helper()
	policy := filepath.Join(filepath.Dir(s.dir), "policy.yaml")
	require.NoError(s, os.WriteFile(policy, []byte("version: 1\nfs: {read: [.], write: ["+write+"]}\ntools: {Bash: {}}\nbash_commands: [git, ls, cat]\n"), 0o600))
	var f hookFlags
	cmd := &cobra.Command{}
	f.Add(cmd)
	require.NoError(s, cmd.ParseFlags([]string{"--policy", policy}))
	f.Root, f.guard, f.also = s.dir, "off", hookFiles
	_, r, err := f.set(nil, cli.NewOutput(io.Discard, io.Discard))
	require.NoError(s, err)
	defer r.Close()
	input, err := json.Marshal(map[string]any{"command": command})
	require.NoError(s, err)
	b, reason, err := f.claudeJudge(r).answer(s.Context(), "Bash", input, filepath.Join(s.dir, at))
	require.NoError(s, err)
	return string(b), reason
}

// Submodules have a configuration of their own, by which `git status` of the project
// runs a program: one that the agent may have written is no known command.
func TestHookOfSubmodules(t *testing.T) {
	s := newShellSite(t)
	decision, reason := s.judge("src", ".", "git status")
	require.Equal(t, "allow", decision, reason)
	s.write("src/sub/x", "plain\n")
	s.sh("cd src/sub && git init -q && git add x && git commit -q -m sub && git config core.fsmonitor ../../mark")
	require.False(t, s.sh("git status"))
	decision, reason = s.judge("src, .git", ".", "git add src/sub && git status")
	require.Equal(t, "ask", decision, reason)
	s.sh("git add src/sub")
	require.True(t, s.sh("git status"), "the control: it runs what the submodule's configuration says")
	for _, command := range []string{"git status", "git diff -- src", "git commit -a -m x"} {
		decision, reason = s.judge("src", ".", command)
		require.NotEqual(t, "allow", decision, "%s: %s", command, reason)
	}
	decision, reason = s.judge("docs", ".", "git status")
	require.Equal(t, "allow", decision, "what the agent may not write is the operator's: %s", reason)
	decision, reason = s.judge("src", ".", "git log --oneline")
	require.Equal(t, "allow", decision, "it does not look into submodules: %s", reason)

	// A submodule as git makes it has its repository beneath the project's own.
	s = newShellSite(t)
	s.sh("git init -q ../lib && cd ../lib && git commit -q --allow-empty -m x && cd ../p && git -c protocol.file.allow=always submodule --quiet add ../lib src/lib")
	decision, reason = s.judge("src", ".", "git status")
	require.Equal(t, "allow", decision, reason)
	s.write("src/lib/.git", "gitdir: ../evil\n")
	decision, reason = s.judge("src", ".", "git status")
	require.Equal(t, "ask", decision, reason)
}

// A command is known in the project's own repository and nowhere else, with the
// programs that no agent can have put there.
func TestHookOfPlaces(t *testing.T) {
	s := newShellSite(t)
	s.write("src/nested/x", "plain\n")
	s.sh("cd src/nested && git init -q && git config core.fsmonitor ../../mark")
	require.True(t, s.sh("cd src/nested && git status"), "the control")
	for at, want := range map[string]string{".": "allow", "src": "allow", "src/nested": "ask", ".git": "ask", "..": "ask", "none": "allow"} {
		decision, reason := s.judge("docs", at, "git log --oneline")
		require.Equal(t, want, decision, "%s: %s", at, reason)
	}
	s.write("src/bare/HEAD", "ref: refs/heads/main\n")
	decision, _ := s.judge("docs", "src/bare", "git log --oneline")
	require.Equal(t, "ask", decision)

	path := os.Getenv("PATH")
	for dir, want := range map[string]string{filepath.Join(s.dir, "bin"): "ask", "": "ask", "bin": "ask", "/nowhere": "allow", filepath.Join(s.dir, "src"): "allow"} {
		t.Setenv("PATH", dir+":"+path)
		decision, reason := s.judge("bin", ".", "ls src")
		if dir == "" || dir == "bin" { // at the working directory
			decision, reason = s.judge("., bin", ".", "ls src")
		}
		require.Equal(t, want, decision, "%q: %s", dir, reason)
	}
	t.Setenv("PATH", path)
	require.NoError(t, os.RemoveAll(filepath.Join(s.dir, ".git")))
	decision, _ = s.judge("docs", ".", "git log --oneline")
	require.Equal(t, "ask", decision, "there is no repository")
}

// The submodules are those that git itself lists, in each version of the index.
func TestGitLinks(t *testing.T) {
	s := newShellSite(t)
	for _, name := range []string{"a/one", "a/two", "b.txt", "long/" + strings.Repeat("name", 40), "é"} {
		s.write(name, "plain\n")
	}
	s.sh("git init -q m1 && cd m1 && git commit -q --allow-empty -m x && cd .. && git init -q z/m2 && cd z/m2 && git commit -q --allow-empty -m x && cd ../.. && git add . 2>/dev/null")
	for _, change := range []string{"true", "git update-index --skip-worktree b.txt", "git update-index --index-version 4", "git update-index --index-version 2", "git rm -q --cached -r a"} {
		s.sh(change)
		links, err := gitLinks(s.dir)
		require.NoError(t, err, change)
		require.Equal(t, []string{"m1", "z/m2"}, links, change)
	}
	s.sh("git worktree add -q ../w HEAD && cd ../w && git status")
	links, err := gitLinks(filepath.Join(filepath.Dir(s.dir), "w"))
	require.NoError(t, err)
	require.Empty(t, links)
	s.sh("git update-index --split-index")
	_, err = gitLinks(s.dir)
	require.Error(t, err)
	index := filepath.Join(s.dir, ".git/index")
	data, err := os.ReadFile(index)
	require.NoError(t, err)
	for n := range len(data) { // cut anywhere it is no panic
		require.NoError(t, os.WriteFile(index, data[:n], 0o600))
		links, err := gitLinks(s.dir)
		require.True(t, err != nil || !slices.Contains(links, ""), n)
	}
	require.NoError(t, os.Remove(index))
	links, err = gitLinks(s.dir)
	require.NoError(t, err)
	require.Empty(t, links)
}
