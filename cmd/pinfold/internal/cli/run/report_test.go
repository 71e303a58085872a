package run

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

func TestReportLineFitsItsSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report")
	r, err := pathresolver.New(pathresolver.Config{Root: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	w, err := openReport(file, r, nil)
	require.NoError(t, err)
	w.add(sandboxfs.Refusal{
		Time: time.Now(), PID: 7, UID: 8, Program: clitest.Hostile, Op: access.OpCreate, Place: clitest.Hostile,
		Rule: pathresolver.RuleProtected, Pattern: "**/*", Errno: syscall.EROFS, Syscall: "mkdir",
	})
	w.add(sandboxfs.Refusal{Time: time.Now(), Op: access.OpRead, Place: ".", Rule: pathresolver.RuleHidden})
	w.unjudged(5)
	w.append(launchLine{cli.TimeText(time.Now()), launched{Policy: "coder", Hash: strings.Repeat("0f", 32), Program: pathresolver.EscapePath(clitest.Hostile), Sandbox: true}})
	w.append(launchLine{cli.TimeText(time.Now()), launched{Program: "make"}})
	c := &refused{files: []*reportFile{w}}
	c.changed(live.Change{Write: []cli.PathText{clitest.Hostile}})
	c.changed(live.Change{Hide: []cli.PathText{"**/*", clitest.Hostile}})
	c.left(leftover.Left{Items: clitest.SomeLeft(), Omitted: 3})
	require.NoError(t, w.close())
	data, err := os.ReadFile(file)
	require.NoError(t, err)

	s := clitest.Schema(t, "../../../../../docs/schema/report.schema.json")
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	require.Len(t, lines, 8+len(leftover.Kinds()), "one line each, whatever the names hold")
	for _, line := range lines {
		clitest.Validate(t, s, line)
	}
}

// A report has a bound, and says how much it left out.
func TestReportIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report")
	f, err := os.Create(file)
	require.NoError(t, err)
	w := &reportFile{f: f, root: "/project", lines: maxReportLines - 1}
	for range 3 {
		w.add(sandboxfs.Refusal{Time: time.Now(), Op: access.OpRead, Place: "x", Rule: pathresolver.RuleHidden})
	}
	require.NoError(t, w.close())
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(data), "\n"))
	require.Contains(t, string(data), `"omitted":2}`)
}

// What is kept of a run without being asked for has a bound in bytes, however long the
// names are that a command chooses: a hundred runs are kept. A report has them all.
func TestLogIsBounded(t *testing.T) {
	written := map[bool]int{}
	for _, kept := range []bool{true, false} {
		f, err := os.Create(filepath.Join(t.TempDir(), "report"))
		require.NoError(t, err)
		w := &reportFile{f: f, root: "/project", kept: kept}
		c := &refused{files: []*reportFile{w}, kinds: map[refusalKind]int{}}
		long := strings.Repeat("\x01", 4000)
		for range 300 {
			c.add(sandboxfs.Refusal{Time: time.Now(), Op: access.OpRead, Place: long, Rule: pathresolver.RuleHidden})
		}
		c.left(leftover.Left{Items: []leftover.Item{{Path: long}}})
		require.NoError(t, c.close())
		info, err := os.Stat(f.Name())
		require.NoError(t, err)
		written[kept] = int(info.Size())
		require.Equal(t, kept, w.omitted > 0)
	}
	require.Less(t, written[true], maxLogBytes+64<<10)
	require.Greater(t, written[false], maxLogBytes, "the same without the bound")
}
