package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// shows waits until the terminal has shown a text, after a mark; it returns the
// next mark.
func (x *terminal) shows(mark int, want string) int {
	x.Helper()
	for late := time.After(clitest.InTime); ; {
		if text := x.raw()[mark:]; strings.Contains(text, want) {
			return mark + strings.Index(text, want) + len(want)
		}
		select {
		case <-x.news:
		case <-late:
			require.FailNow(x, "the terminal does not show it", "%q in %q", want, x.raw()[mark:])
		}
	}
}

// D1, D14: --approve tty asks on the terminal that the command runs on. What was
// typed before the question is no answer, and what is typed as one the command
// does not get; nor does what an agent writes reach the terminal as it is.
func TestRunAsksOnTheTerminal(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	state, err := os.MkdirTemp("/tmp", "pf") // a socket's name is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(state)) })
	clitest.Tree{
		"src/a.go": "a\n", "src/b.go": "b\n", "src/c.go": "c\n", "docs/old": "",
		"run.sh": `read word; echo "typed $word"
echo new > src/a.go && echo landed
(echo new > src/b.go) 2> docs/err || echo refused
pinfold requests new --reason "$(printf '\033[31mred')" src/c.go || echo asked
echo ready; while read line && test "$line" != key; do :; done; echo "$line" > docs/key; echo over
`,
	}.Make(t, project)
	policy := filepath.Join(state, "worker.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src]}\napprovals: {fuse_wait: 1h}\n"), 0o600))
	x := onTerminal(t, []string{"XDG_STATE_HOME=" + state, "PINFOLD_SOCKET=", "TERM=dumb"},
		"run", "-C", project, "--policy", policy, "--approve", "tty", "--", "sh", filepath.Join(project, "run.sh"))
	x.press("first\ry\r")
	at := x.shows(0, "typed first")
	at = x.shows(at, "pinfold: run asks for fs.write 'src/a.go'")
	at = x.shows(at, "Press a to approve")
	content, err := os.ReadFile(filepath.Join(project, "src/a.go"))
	require.NoError(t, err)
	require.Equal(t, "a\n", string(content), "nothing is written before the answer")
	x.press("y\ryes\ra what is this\r") // typed on, at the command
	at = x.shows(at, "typing is ignored until you pause")
	x.chooses("a", "Approve for run: fs.write 'src/a.go', this once? Ctrl-O approves")
	x.chooses("\x0f", "pinfold: approved")
	at = x.shows(at, "landed")
	at = x.shows(at, "pinfold: run asks for fs.write 'src/b.go'")
	at = x.shows(at, "Press a to approve")
	x.chooses("d", "Why not? ")
	x.press("not thas\x7f\x7fis one\r")
	at = x.shows(at, "is one")
	x.press("\x18")
	at = x.shows(at, "refused")
	at = x.shows(at, "pinfold: run asks for fs.write 'src/c.go'")
	at = x.shows(at, `\x1b[31mred`)
	at = x.shows(at, "Press a to approve")
	x.chooses("d", "Why not? ")
	x.press("\x18")
	at = x.shows(at, "Denied by manager")
	at = x.shows(at, "ready")
	x.press("key\r")
	x.shows(at, "over")
	require.Equal(t, cli.ExitOK, x.leaves())
	require.NotContains(t, x.raw(), "\x1b[31m")
	for file, want := range map[string]string{"src/a.go": "new\n", "src/b.go": "b\n", "src/c.go": "c\n", "docs/key": "key\n"} {
		content, err := os.ReadFile(filepath.Join(project, file))
		require.NoError(t, err)
		require.Equal(t, want, string(content), file)
	}
}
