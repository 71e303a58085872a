package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// What the operator says reaches the program's side: the operation's own report
// in the summary, pinfold why and pinfold requests new inside. Leave to create a file is
// all that touch takes.
func TestAnswersAreTold(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	state, err := os.MkdirTemp("/tmp", "pf") // a socket's name is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(state)) })
	clitest.Tree{
		"src/no.go": "no\n", "src/old.go": "old\n", "docs/old": "",
		"run.sh": `(echo new > src/no.go) 2> docs/err || echo refused
pinfold why src/no.go
pinfold requests new --reason "once more" src/no.go && echo given
for try in $(seq 100); do touch src/new.go 2> docs/err && break; sleep 0.1; done
test -e src/new.go && echo "touched once"
echo over
`,
	}.Make(t, project)
	// Who answers lets files be made, and nothing else, and writes down what was asked.
	answers := filepath.Join(state, "answers.sh")
	asked := filepath.Join(state, "asked")
	require.NoError(t, os.WriteFile(answers, []byte(`request=$(cat)
printf '%s\n' "$request" >> `+asked+`
case $request in *'"fs.create"'*) exit 0;; esac
echo "not in this release: $(printf '\033[31mred')"
exit 1
`), 0o600))
	policy := filepath.Join(state, "worker.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src]}\napprovals: {fuse_wait: 1h}\n"), 0o600))
	x := onTerminal(t, []string{"XDG_STATE_HOME=" + state, "PINFOLD_SOCKET=", "TERM=dumb"},
		"run", "-C", project, "--policy", policy, "--approve", "exec:sh "+answers, "--", "sh", filepath.Join(project, "run.sh"))
	const said = `not in this release: \x1b[31mred`
	at := x.shows(0, "refused")
	at = x.shows(at, "it was asked for, and denied: "+said)
	at = x.shows(at, "pinfold: error: "+said)
	at = x.shows(at, "touched once")
	at = x.shows(at, "over")
	require.Equal(t, cli.ExitOK, x.leaves())
	summary := x.raw()[at:]
	require.Contains(t, summary, "refused")
	require.Contains(t, summary, "answer: "+said)
	require.NotContains(t, x.raw(), "\x1b[31m")

	content, err := os.ReadFile(filepath.Join(project, "src/new.go"))
	require.NoError(t, err)
	require.Empty(t, content)
	log, err := os.ReadFile(asked)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(log), `"action":"fs.create"`), "%s", log)
	require.NotContains(t, string(log), `"fs.meta"`, "its times are part of making it")
}
