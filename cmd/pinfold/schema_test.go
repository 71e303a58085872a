package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// hostile is a name that must come out of every format as text (V11).
const hostile = "a\n\x1b[31m\xff\u202e\"<&>%"

// call runs pinfold in this process.
func call(t *testing.T, args ...string) (code int, stdout string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &errOut)
	require.Empty(t, errOut.String())
	return code, out.String()
}

// checked is `check` in a format, over a policy with many findings.
func checked(t *testing.T, format string) string {
	t.Helper()
	dir := t.TempDir()
	list := filepath.Join(dir, "list of\nwrite paths")
	require.NoError(t, os.WriteFile(list, []byte("/etc\n"+strings.Repeat("x", 5000)+"\na\x00b\n"), 0o600))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, hostile)))
	code, out := call(t, "check", "-C", dir, "-C", dir+"/missing", "-w", "src", "-w", "src", "-w", "", "-w", hostile,
		"-w", "../"+hostile, "--hide", "[", "--unprotect", "x", "--write-paths-from", list, "--format", format)
	require.Equal(t, exitFailed, code)
	return out
}

func schema(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(file)
	require.NoError(t, err)
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, document string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	require.NoError(t, err)
	require.NoError(t, s.Validate(v), "%s", document)
}

func TestCheckJSONFitsItsSchema(t *testing.T) {
	s := schema(t, "../../docs/schema/check.schema.json")
	validate(t, s, checked(t, "json"))
	_, clean := call(t, "check", "-C", t.TempDir(), "--format", "json")
	validate(t, s, clean)

	v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(clean, `"ok"`, `"okay"`, 1)))
	require.NoError(t, err)
	require.Error(t, s.Validate(v), "the schema refuses what it does not know")
}

// The schema is the one that OASIS publishes for SARIF 2.1.0.
func TestCheckSARIFFitsTheStandard(t *testing.T) {
	s := schema(t, "testdata/sarif-schema-2.1.0.json")
	out := checked(t, "sarif")
	validate(t, s, out)
	_, clean := call(t, "check", "-C", t.TempDir(), "--format", "sarif")
	validate(t, s, clean)

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

func TestReportLineFitsItsSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report")
	r, err := pathresolver.New(pathresolver.Config{Root: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	w, err := openReport(file, r, nil)
	require.NoError(t, err)
	w.add(sandboxfs.Refusal{
		Time: time.Now(), PID: 7, UID: 8, Program: hostile, Op: pathresolver.OpCreate, Place: hostile,
		Rule: pathresolver.RuleProtected, Pattern: "**/*", Errno: syscall.EROFS, Syscall: "mkdir",
	})
	w.add(sandboxfs.Refusal{Time: time.Now(), Op: pathresolver.OpRead, Place: ".", Rule: pathresolver.RuleHidden})
	w.unjudged(5)
	w.append(launchLine{timeText(time.Now()), launched{Policy: "coder", Hash: strings.Repeat("0f", 32), Program: pathresolver.EscapePath(hostile), Sandbox: true}})
	w.append(launchLine{timeText(time.Now()), launched{Program: "make"}})
	c := &refused{file: w}
	c.left(leftover.Left{Items: someLeft(), Omitted: 3})
	require.NoError(t, w.close())
	data, err := os.ReadFile(file)
	require.NoError(t, err)

	s := schema(t, "../../docs/schema/report.schema.json")
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	require.Len(t, lines, 6+len(leftover.Kinds()), "one line each, whatever the names hold")
	for _, line := range lines {
		validate(t, s, line)
	}
}

// A report has a bound, and says how much it left out.
func TestReportIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report")
	f, err := os.Create(file)
	require.NoError(t, err)
	w := &reportFile{f: f, root: "/project", lines: maxReportLines - 1}
	for range 3 {
		w.add(sandboxfs.Refusal{Time: time.Now(), Op: pathresolver.OpRead, Place: "x", Rule: pathresolver.RuleHidden})
	}
	require.NoError(t, w.close())
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(data), "\n"))
	require.Contains(t, string(data), `"omitted":2}`)
}

// someLeft is one thing of each kind.
func someLeft() (items []leftover.Item) {
	for _, kind := range leftover.Kinds() {
		items = append(items, leftover.Item{Kind: kind, Path: "/project/" + hostile, Leads: "/" + hostile, Program: "make", When: pathresolver.WhenBuild, Detail: hostile})
	}
	return items
}

func TestLeftFitsItsSchema(t *testing.T) {
	s := schema(t, "../../docs/schema/left.schema.json")
	for _, records := range [][]leftRecord{nil, {{Run: "x", Root: "/" + hostile, Command: hostile, Ended: timeText(time.Now()), Items: someLeft(), Omitted: 1}}} {
		var out bytes.Buffer
		require.NoError(t, newOutput(&out, nil).leftJSON(records))
		validate(t, s, out.String())
		require.NotContains(t, out.String(), "\x1b")
	}
	var out bytes.Buffer
	newOutput(&out, nil).leftText([]leftRecord{{Run: "x", Root: "/project", Items: someLeft()}})
	require.NotContains(t, out.String(), "\x1b")
	require.Equal(t, 1+len(leftover.Kinds()), strings.Count(out.String(), "\n"), "one line each, whatever the names hold")
}
