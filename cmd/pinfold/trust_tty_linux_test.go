package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

const trustQuestion = "Trust it? Type yes: "

// trustIn is a project with a file to trust, and what finds out whether it is trusted.
func trustIn(t *testing.T) (env []string, project string, trusted func() bool) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	env = []string{"XDG_STATE_HOME=" + t.TempDir(), "TERM=dumb"}
	clitest.Tree{".pinfold.yaml": "version: 1\nrun:\n  write: [src]\n"}.Make(t, project)
	return env, project, func() bool {
		cmd := exec.Command("pinfold", "trust", "--list")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NotContains(t, string(out), "changed since")
		return strings.HasSuffix(string(out), " "+project+"\n")
	}
}

// Only the word yes, typed at the question, trusts a file.
func TestTrustAsks(t *testing.T) {
	for typed, yes := range map[string]bool{
		"yes\r": true, "  yes \r": true, "ye\x7f\x7fyes\r": true,
		"\r": false, "y\r": false, "n\r": false, "no\r": false, "YES\r": false, "yes!\r": false, "yes yes\r": false, "\x04": false,
		"\ryes\r": false, strings.Repeat("x", 200) + "\ryes\r": false,
	} {
		t.Run(strings.Trim(typed, "\r")[:min(10, len(strings.Trim(typed, "\r")))], func(t *testing.T) {
			env, project, trusted := trustIn(t)
			x := onTerminal(t, env, "trust", "-C", project)
			at := x.shows(0, "may write, in the project: src")
			at = x.shows(at, trustQuestion)
			require.False(t, trusted(), "before the answer")
			x.press(typed)
			if yes {
				x.shows(at, "trusted")
				require.Equal(t, cli.ExitOK, x.leaves())
			} else {
				x.shows(at, "not trusted")
				require.Equal(t, cli.ExitFailed, x.leaves())
			}
			require.Equal(t, yes, trusted())
		})
	}
}

// What was typed before the question was shown is no answer to it, whole lines or not.
func TestTrustTakesNothingTypedAhead(t *testing.T) {
	for _, typed := range []string{"yes\r", "yes\ryes\r", "yes", "\r"} {
		for answer, yes := range map[string]bool{"\r": false, "yes\r": true} {
			t.Run(strings.NewReplacer("\r", "+").Replace(typed+" then "+answer), func(t *testing.T) {
				env, project, trusted := trustIn(t)
				gate := filepath.Join(t.TempDir(), "gate")
				require.NoError(t, syscall.Mkfifo(gate, 0o600))
				x := programOnTerminal(t, "sh", env, "-c", `echo ready; read go < "$1"; exec pinfold trust -C "$2"`, "sh", gate, project)
				at := x.shows(0, "ready")
				x.press(typed + "\x12") // Ctrl-R: the terminal shows the line that it holds, after all before
				at = x.shows(at, "^R")
				require.NoError(t, os.WriteFile(gate, []byte("go\n"), 0o600))
				at = x.shows(at, trustQuestion)
				require.False(t, trusted())
				x.press(answer)
				x.shows(at, "trusted")
				require.Equal(t, map[bool]int{true: cli.ExitOK, false: cli.ExitFailed}[yes], x.leaves())
				require.Equal(t, yes, trusted())
			})
		}
	}
}

// Ctrl-C at the question ends it, and trusts nothing.
func TestTrustIsInterrupted(t *testing.T) {
	env, project, trusted := trustIn(t)
	x := onTerminal(t, env, "trust", "-C", project)
	at := x.shows(0, trustQuestion)
	x.press("yes")
	x.shows(at, "yes")
	x.press("\x03")
	<-x.over
	_ = x.cmd.Wait()
	status := x.cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.Equal(t, syscall.SIGINT, status.Signal())
	require.False(t, trusted())
}

// Where there is no terminal nobody is asked, whatever can be read.
func TestTrustAsksNoPipe(t *testing.T) {
	env, project, trusted := trustIn(t)
	for _, line := range []string{
		`echo yes | pinfold trust -C "$1"`, `yes yes | pinfold trust -C "$1"`,
		`echo yes > "$1/answer"; pinfold trust -C "$1" < "$1/answer"`, `pinfold trust -C "$1" < /dev/null`, `pinfold trust -C "$1" <&-`,
	} {
		cmd := exec.Command("sh", "-c", line, "sh", project)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s", out)
		require.Equal(t, cli.ExitUsage, exit.ExitCode(), "%s: %s", line, out)
		require.Contains(t, string(out), "no terminal to ask on")
		require.False(t, trusted(), line)
	}
	// Nor where the question would not be seen.
	x := programOnTerminal(t, "sh", env, "-c", `pinfold trust -C "$1" 2> "$1/question"; echo "over $?"`, "sh", project)
	x.shows(0, "over 2")
	require.False(t, trusted())
	cmd := exec.Command("pinfold", "trust", "-C", project, "--yes")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.True(t, trusted())
}
