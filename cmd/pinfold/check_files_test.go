package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// TestCheckFilesFitsItsSchemas holds the JSON and the SARIF of files to what is
// published, whatever a document holds (V11).
func TestCheckFilesFitsItsSchemas(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("version: 1\nextends: sandboxed\nfs: {write: [\"a\\e31m\\u202e\", /etc]}\n"), 0o600))
	good := filepath.Join(dir, "good.yaml")
	require.NoError(t, os.WriteFile(good, []byte("version: 1\nextends: sandboxed\n"), 0o600))

	files := clitest.Schema(t, "../../docs/schema/check-files.schema.json")
	code, out := call(t, "check", "--format", "json", bad, dir+"/missing\n.md", good)
	require.Equal(t, cli.ExitFailed, code)
	require.NotContains(t, out, "\x1b")
	clitest.Validate(t, files, out)
	code, out = call(t, "check", "--format", "json", good)
	require.Equal(t, cli.ExitOK, code)
	clitest.Validate(t, files, out)

	sarif := clitest.Schema(t, "testdata/sarif-schema-2.1.0.json")
	_, out = call(t, "check", "--format", "sarif", bad, good)
	clitest.Validate(t, sarif, out)
	_, out = call(t, "check", "--format", "sarif", good)
	clitest.Validate(t, sarif, out)
	_, out = call(t, "check", "--format", "github", bad, dir+"/missing\n.md")
	require.Regexp(t, `^::error file=[^,\n]+,line=3,col=\d+,title=pinfold check%3A path_outside::[^\n]+\n::error [^\n]+\n$`, out)
	require.Contains(t, out, "file="+bad+",")
}

// TestBaselineFitsItsSchema holds a baseline, and what check prints with one, to
// what is published, whatever a document holds (V11).
func TestBaselineFitsItsSchema(t *testing.T) {
	dir := t.TempDir()
	clitest.Tree{
		".pinfold.yaml": "version: 1\ncheck: {policies: [policies]}\n",
		"policies/" + strings.ReplaceAll(clitest.Hostile, "/", "") + ".yaml": "version: 1\nextends: sandboxed\nfs: {write: [\"../a\\e31m\\u202e\", docs, docs]}\n",
		"policies/b.yaml": "version: 1\nextends: sandboxed\ntools: {Raed: {}}\n",
	}.Make(t, dir)
	file := filepath.Join(dir, "baseline.json")
	code, _ := call(t, "check", "-C", dir, "--write-baseline", file)
	require.Equal(t, cli.ExitOK, code)
	known, err := os.ReadFile(file)
	require.NoError(t, err)
	s := clitest.Schema(t, "../../docs/schema/baseline.schema.json")
	clitest.Validate(t, s, string(known))
	require.NotContains(t, string(known), dir, "it holds on another machine")
	code, out := call(t, "check", "-C", dir, "--strict", "--baseline", file)
	require.Equal(t, cli.ExitOK, code, out)
	code, _ = call(t, "check", "-C", dir, "--write-baseline", file)
	require.Equal(t, cli.ExitOK, code)
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(known), string(again))

	v, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"version": 1, "findings": [{"file": "a"}]}`))
	require.NoError(t, err)
	require.Error(t, s.Validate(v), "the schema refuses an entry that says too little")

	// With a note about what is mended, too.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policies/b.yaml"), []byte("version: 1\nextends: sandboxed\n"), 0o600))
	for format, of := range map[string]string{"json": "../../docs/schema/check-files.schema.json", "sarif": "testdata/sarif-schema-2.1.0.json"} {
		code, out = call(t, "check", "-C", dir, "--strict", "--baseline", file, "--format", format)
		require.Equal(t, cli.ExitOK, code, out)
		require.Contains(t, out, "stale_baseline")
		clitest.Validate(t, clitest.Schema(t, of), out)
	}
}

// BenchmarkCheckAgents checks 1,000 agent definitions, as a .pinfold.yaml names
// them: the promise is under a second.
func BenchmarkCheckAgents(b *testing.B) {
	dir := b.TempDir()
	files := clitest.Tree{".pinfold.yaml": "version: 1\ncheck: {agents: [\".claude/agents/**/*.md\"]}\n"}
	for i := range 1000 {
		files[fmt.Sprintf(".claude/agents/team-%d/agent-%d.md", i%20, i)] = fmt.Sprintf(
			"---\nname: agent-%d\ndescription: Does one thing, and does it well\ntools: Read, Grep, Bash(git add:*), Edit\nprofile: WRITE\nwrite_paths: [src/a%d, docs]\ncolor: blue\n---\nYou are an agent.\n", i, i)
	}
	files.Make(b, dir)
	for b.Loop() {
		var out bytes.Buffer
		require.Equal(b, cli.ExitOK, execute(context.Background(), []string{"check", "-C", dir}, nil, &out, &out), out.String())
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/definition")
}
