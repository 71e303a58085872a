package skills

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// K08: a search that Claude Code does itself is refused wherever a pattern could
// cover something beneath it, whatever the pattern's syntax.
func TestHidesWithWildcards(t *testing.T) {
	for _, c := range []struct{ glob, place, want string }{
		{"{secrets,private}/*.key", "secrets", "{secrets,private}/*.key"},
		{"s?crets/*.key", "secrets", "s?crets/*.key"},
		{"[sS]ecrets/**", "secrets/a", "[sS]ecrets/**"},
		{"src/{a,b}/*.key", "src/a", "src/{a,b}/*.key"},
		{"src/{a,b}/*.key", "docs", ""},
		{"secrets/*.key", "secrets", "secrets/*.key"},
		{"secrets/*.key", "src", ""},
		{"**/.env", "src", "**/.env"},
		{"secrets", "secrets/a", "secrets"},
	} {
		j := &claudeJudge{cfg: pathresolver.Config{Hide: []string{c.glob}}}
		require.Equal(t, c.want, j.hides(c.place, true), "%s, %s", c.glob, c.place)
	}
}

// B10: what is asked about is where a path ends, also where there is nothing yet.
func TestEndOf(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "victim"), 0o700))
	require.NoError(t, os.Symlink("victim", filepath.Join(dir, "d")))
	require.NoError(t, os.Symlink("victim/new", filepath.Join(dir, "dangling")))
	for path, want := range map[string]string{
		"victim": "victim", "d": "victim", "d/new": "victim/new", "d/new/x": "victim/new/x", "new/x": "new/x", "d/../new": "new",
	} {
		got, err := endOf(dir + "/" + path)
		require.NoError(t, err, path)
		require.Equal(t, filepath.Join(dir, want), got, path)
	}
	for _, path := range []string{"dangling", "dangling/x"} {
		_, err := endOf(filepath.Join(dir, path))
		require.ErrorContains(t, err, "leads to", path)
	}
}

// M4: a broker that does not answer is a refusal within --wait, since Claude Code
// goes on without a hook that takes too long.
func TestHookOfSilentBroker(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "pf")
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "unix", filepath.Join(dir, "s")) // connections are never accepted
	require.NoError(t, err)
	defer l.Close()
	t.Setenv("PINFOLD_SOCKET", filepath.Join(dir, "s"))
	f := hookFlags{wait: 50 * time.Millisecond}
	a := &cli.App{Stdin: strings.NewReader(`{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"Read","tool_input":{"file_path":"/x"}}`)}
	require.ErrorIs(t, hookClaude(t.Context(), a, &f), context.DeadlineExceeded)
}

// D1: that a policy is named as grants are makes its rules no leave of a manager's.
func TestGrantRule(t *testing.T) {
	require.True(t, grantRule().MatchString("grant:0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77"))
	for _, rule := range []string{"", "grant:fs.write[0]", "grant:extends", "worker:fs.write[0]", "x grant:0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77"} {
		require.False(t, grantRule().MatchString(rule), rule)
	}
}
