package skills

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
)

// What a file holds moves no cursor of a terminal (V11), and reaches a pipe as
// it is.
func TestSkillTextOnATerminal(t *testing.T) {
	const text = "a\tb\n\x1b[31mred\r\n"
	require.Equal(t, "a\tb\n\\x1b[31mred\\r\n", showable(&cli.Stream{Terminal: true}, text))
	require.Equal(t, text, showable(&cli.Stream{}, text))
	require.Equal(t, "x\n", showable(&cli.Stream{}, "x"))
	require.Empty(t, showable(&cli.Stream{}, ""))
}

// T4: what a policy gives a tool is what the skill gets.
func TestSkillTimeoutIsThePolicys(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.yaml")
	require.NoError(t, os.WriteFile(file, []byte("version: 1\nextends: sandboxed\ntools: {grep: {timeout: 7}}\n"), 0o600))
	f := skillFlags{guard: "off", Flags: policyflag.Flags{Root: dir, HardLinks: "deny", Named: policyflag.From{Policy: file}}}
	_, r, err := f.set(nil, cli.NewOutput(io.Discard, io.Discard))
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, 7*time.Second, f.timeout("grep"))
	require.Zero(t, f.timeout("read_file"))
}
