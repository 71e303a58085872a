package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// call runs pinfold in this process.
func call(t *testing.T, args ...string) (code int, stdout string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(""), &out, &errOut)
	require.Empty(t, errOut.String())
	return code, out.String()
}

// checked is `check` in a format, over a policy with many findings.
func checked(t *testing.T, format string) string {
	t.Helper()
	dir := t.TempDir()
	list := filepath.Join(dir, "list of\nwrite paths")
	require.NoError(t, os.WriteFile(list, []byte("/etc\n"+strings.Repeat("x", 5000)+"\na\x00b\n"), 0o600))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, clitest.Hostile)))
	code, out := call(t, "check", "-C", dir, "-C", dir+"/missing", "-w", "src", "-w", "src", "-w", "", "-w", clitest.Hostile,
		"-w", "../"+clitest.Hostile, "--hide", "[", "--mask", "[", "--unprotect", "x", "--write-paths-from", list, "--format", format)
	require.Equal(t, cli.ExitFailed, code)
	return out
}

func TestCheckJSONFitsItsSchema(t *testing.T) {
	s := clitest.Schema(t, "../../docs/schema/check.schema.json")
	clitest.Validate(t, s, checked(t, "json"))
	_, clean := call(t, "check", "-C", t.TempDir(), "--format", "json")
	clitest.Validate(t, s, clean)

	v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(clean, `"ok"`, `"okay"`, 1)))
	require.NoError(t, err)
	require.Error(t, s.Validate(v), "the schema refuses what it does not know")
}

// The schema is the one that OASIS publishes for SARIF 2.1.0.
func TestCheckSARIFFitsTheStandard(t *testing.T) {
	s := clitest.Schema(t, "testdata/sarif-schema-2.1.0.json")
	out := checked(t, "sarif")
	clitest.Validate(t, s, out)
	_, clean := call(t, "check", "-C", t.TempDir(), "--format", "sarif")
	clitest.Validate(t, s, clean)

	v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(out, `"level": "error"`, `"level": "bad"`, 1)))
	require.NoError(t, err)
	require.Error(t, s.Validate(v), "the schema refuses an unknown level")
}

func TestGitHubLinesAreOneFindingEach(t *testing.T) {
	out := checked(t, "github")
	for line := range strings.Lines(out) {
		require.Regexp(t, `^::(error|warning) (file=[^,:]+,(line=[0-9]+,)?)?title=pinfold check%3A [a-z_]+::.`, line)
		require.NotContains(t, line, "\x1b")
	}
}

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

func TestAppJSONFitsItsSchema(t *testing.T) {
	s := clitest.Schema(t, "../../docs/schema/app.schema.json")
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(os.Getenv("HOME"), "config"))
	program := filepath.Join(os.Getenv("PATH"), "claude")
	require.NoError(t, os.WriteFile(program, nil, 0o755))
	own := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "pinfold", "apps", "mine.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(own), 0o700))
	require.NoError(t, os.WriteFile(own, []byte("version: 1\nextends: codex\ntitle: \"\\e[2J\"\n"), 0o600))
	code, out := call(t, "app", "list", "--json")
	require.Equal(t, cli.ExitOK, code)
	require.Contains(t, out, `"path": "`+program+`"`)
	require.NotContains(t, out, "\x1b")
	clitest.Validate(t, s, out)
	for _, name := range []string{"claude", "gemini", "mine"} {
		code, out = call(t, "app", "show", name, "--json")
		require.Equal(t, cli.ExitOK, code)
		clitest.Validate(t, s, out)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(out, `"install"`, `"instal"`, 1)))
	require.NoError(t, err)
	require.Error(t, s.Validate(v), "the schema refuses what it does not know")
}
