package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

func TestSkillCallJSONFitsItsSchema(t *testing.T) {
	s := clitest.Schema(t, "../../docs/schema/skill.schema.json")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o600))
	for args, want := range map[string]int{
		`{"path":"a.txt"}`: cli.ExitOK,
		`{"path":"b.txt"}`: cli.ExitFailed,
		`{"path":"../a"}`:  cli.ExitFailed,
		`{`:                cli.ExitFailed,
	} {
		code, out := call(t, "skill", "call", "-C", dir, "read_file", args, "--json")
		require.Equal(t, want, code, args)
		clitest.Validate(t, s, out)
	}
}
