package integration

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// started are the programs that pinfold starts or looks up other than by an
// absolute path that is written down, with the reason.
var started = map[string]string{
	`cmd/pinfold/internal/cli/approver/exec.go: exec.CommandContext(shell)`:  "internal/helper found it",
	`cmd/pinfold/internal/cli/child/line.go: exec.Command(self)`:             "itself, see child.Self",
	`cmd/pinfold/internal/cli/learn/layer_linux.go: unix.Exec(self)`:         "itself, see child.Self",
	`cmd/pinfold/internal/cli/run/doctor.go: exec.CommandContext(self)`:      "itself, see child.Self",
	`cmd/pinfold/internal/cli/run/hint.go: exec.LookPath(command)`:           "it is only told where the command lies outside",
	`cmd/pinfold/internal/cli/run/unconfined.go: exec.LookPath(command[0])`:  "the operator's own command, as their shell would find it",
	`cmd/pinfold/internal/cli/run/unconfined.go: syscall.Exec(program)`:      "the operator's own command, without a sandbox",
	`cmd/pinfold/internal/cli/mount/unmount_linux.go: exec.Command(program)`: "internal/helper found it",
	`launcher/init_linux.go: syscall.ForkExec(program)`:                      "the run's command, inside",
	`launcher/exec_linux.go: syscall.ForkExec(program)`:                      "the run's command, inside",
	`sandboxfs/fusermount_linux.go: exec.Command(program)`:                   "internal/helper found it",
	`internal/pgtest/server.go: exec.LookPath("initdb")`:                     "for tests",
}

// starts are the functions that start a program, or look one up in PATH, with
// the place of the program among their arguments.
var starts = map[string]int{
	"exec.Command": 0, "exec.CommandContext": 1, "exec.LookPath": 0, "os.StartProcess": 0,
	"syscall.ForkExec": 0, "syscall.Exec": 0, "syscall.StartProcess": 0, "unix.Exec": 0,
}

// TestProgramsAreNotLookedUp holds that pinfold starts nothing by a bare name.
func TestProgramsAreNotLookedUp(t *testing.T) {
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		where := filepath.ToSlash(strings.TrimPrefix(path, "../"))
		switch {
		case d.IsDir() && (where == "integration" || strings.HasPrefix(d.Name(), ".") && where != ".."):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			for _, call := range startsIn(t, path, nil) {
				found[where+": "+call] = true
			}
		}
		return nil
	}))
	for call := range found {
		assert.NotEmpty(t, started[call], "%s starts a program by a name that is looked up in PATH: use internal/helper, or say here why it is safe", call)
	}
	for call := range started {
		assert.True(t, found[call], "%s is not there any more", call)
	}
}

// TestProgramsCanFail shows that the scan finds what it is there to find.
func TestProgramsCanFail(t *testing.T) {
	const text = `package p
func f() {
	exec.Command("/bin/true")
	exec.Command("git", "status")
	exec.CommandContext(ctx, "sh", "-c", x)
	exec.Command("./tool")
	syscall.ForkExec(name, nil, nil)
	other.Command("git")
}`
	require.Equal(t, []string{`exec.Command("git")`, `exec.CommandContext("sh")`, `exec.Command("./tool")`, `syscall.ForkExec(name)`}, startsIn(t, "p.go", text))
}

// startsIn lists the calls in a file that start something by other than a
// constant absolute path.
func startsIn(t *testing.T, path string, text any) (calls []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	show := func(n ast.Node) string {
		var b strings.Builder
		require.NoError(t, printer.Fprint(&b, set, n))
		return b.String()
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := show(call.Fun)
		at, ok := starts[name]
		if !ok || at >= len(call.Args) {
			return true
		}
		if lit, ok := call.Args[at].(*ast.BasicLit); ok {
			if program, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(program, "/") {
				return true
			}
		}
		if c := name + "(" + show(call.Args[at]) + ")"; !slices.Contains(calls, c) {
			calls = append(calls, c)
		}
		return true
	})
	return calls
}
