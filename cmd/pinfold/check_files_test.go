package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheckFilesFitsItsSchemas holds the JSON and the SARIF of files to what is
// published, whatever a document holds (V11).
func TestCheckFilesFitsItsSchemas(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("version: 1\nextends: sandboxed\nfs: {write: [\"a\\e31m\\u202e\", /etc]}\n"), 0o600))
	good := filepath.Join(dir, "good.yaml")
	require.NoError(t, os.WriteFile(good, []byte("version: 1\nextends: sandboxed\n"), 0o600))

	files := schema(t, "../../docs/schema/check-files.schema.json")
	code, out := call(t, "check", "--format", "json", bad, dir+"/missing\n.md", good)
	require.Equal(t, exitFailed, code)
	require.NotContains(t, out, "\x1b")
	validate(t, files, out)
	code, out = call(t, "check", "--format", "json", good)
	require.Equal(t, exitOK, code)
	validate(t, files, out)

	sarif := schema(t, "testdata/sarif-schema-2.1.0.json")
	_, out = call(t, "check", "--format", "sarif", bad, good)
	validate(t, sarif, out)
	_, out = call(t, "check", "--format", "sarif", good)
	validate(t, sarif, out)
	_, out = call(t, "check", "--format", "github", bad, dir+"/missing\n.md")
	require.Regexp(t, `^::error file=[^,\n]+,line=3,col=\d+,title=pinfold check%3A path_outside::[^\n]+\n::error [^\n]+\n$`, out)
	require.Contains(t, out, "file="+bad+",")
}
