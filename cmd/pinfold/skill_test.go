package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSkillCallJSONFitsItsSchema(t *testing.T) {
	s := schema(t, "../../docs/schema/skill.schema.json")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o600))
	for args, want := range map[string]int{
		`{"path":"a.txt"}`: exitOK,
		`{"path":"b.txt"}`: exitFailed,
		`{"path":"../a"}`:  exitFailed,
		`{`:                exitFailed,
	} {
		code, out := call(t, "skill", "call", "-C", dir, "read_file", args, "--json")
		require.Equal(t, want, code, args)
		validate(t, s, out)
	}
}
