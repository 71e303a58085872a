package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// everyCommand is all commands beneath the root, and theirs.
func everyCommand() (all []*cobra.Command) {
	for _, cmd := range newRoot(&cli.App{Out: cli.NewOutput(nil, nil)}).Commands() {
		all = append(append(all, cmd), cmd.Commands()...)
	}
	return all
}

// TestManualIsWhole holds that docs/cli.md names every command, flag, exit
// code and code of check.
func TestManualIsWhole(t *testing.T) {
	data, err := os.ReadFile(manual)
	require.NoError(t, err)
	manual := string(data)

	for _, cmd := range everyCommand() {
		if cmd.Hidden {
			continue // pinfold's own
		}
		require.Contains(t, manual, cmd.Name())
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				require.Contains(t, manual, "--"+f.Name, "a flag of %s", cmd.Name())
			}
		})
	}
	for _, name := range append(pathresolver.DefaultProtected(), ".git") {
		require.Contains(t, manual, "`"+name+"`")
	}
	for _, code := range []int{cli.ExitOK, cli.ExitFailed, cli.ExitUsage, cli.ExitLeft, cli.ExitDenied, cli.ExitRunOwn, cli.ExitNotExec, cli.ExitNotFound} {
		require.Contains(t, manual, "\n| "+strconv.Itoa(code)+" | ")
	}
	require.Contains(t, manual, "\n| "+strconv.Itoa(cli.ExitSignal)+"+n | ")
	for _, code := range constants(t, "../../pathresolver/violation.go", "access.Code") {
		require.Contains(t, manual, "`"+code+"`")
	}
}

// TestFlagsInTheDocsExist holds the README and the guides to real flags.
func TestFlagsInTheDocsExist(t *testing.T) {
	known := map[string]bool{"--help": true, "--version": true}
	for _, cmd := range everyCommand() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	}
	// Of other programs that the documents call.
	for _, flag := range []string{"--depth", "--quiet", "--edit-last", "--create-if-none", "--body-file", "--permission-prompt-tool"} {
		known[flag] = true
	}
	for _, file := range []string{"../../README.md", "../../docs/ci.md", "../../docs/cli.md", "../../docs/policy.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, flag := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(string(text), -1) {
			require.True(t, known[flag], "%s names %s", file, flag)
		}
	}
}

// TestEveryCommandHelps holds that each command says what it is for
// and answers --help with success.
func TestEveryCommandHelps(t *testing.T) {
	root := newRoot(&cli.App{Out: cli.NewOutput(nil, nil)})
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		if cmd.Hidden {
			continue
		}
		require.NotEmpty(t, cmd.Short, cmd.Name())
		if cmd == root {
			continue
		}
		code, out := call(t, cmd.Name(), "--help")
		require.Equal(t, cli.ExitOK, code)
		require.Contains(t, out, "pinfold "+cmd.Name())
	}
}
