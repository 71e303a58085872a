package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// Every command that is shown has a group, but for those about pinfold itself.
func TestCommandsHaveGroups(t *testing.T) {
	root := newRoot(&cli.App{Out: cli.NewOutput(nil, nil)})
	var titles []string
	for _, g := range root.Groups() {
		titles = append(titles, g.Title)
	}
	require.Equal(t, []string{"Start an agent:", "Sandbox:", "Policy:", "Approvals:", "Agents:", "Integrations:"}, titles)
	_, out := call(t, "--help")
	for _, cmd := range root.Commands() {
		shown := "\n  " + cmd.Name() + " "
		if cmd.Hidden {
			require.NotContains(t, out, shown)
			continue
		}
		require.Contains(t, out, shown)
		if cmd.Name() != "version" && cmd.Name() != "completion" {
			require.NotEmpty(t, cmd.GroupID, cmd.Name())
		}
	}
}

// What run's help shows first is what people need. No flag is lost.
func TestFlagsHaveHeadings(t *testing.T) {
	for _, cmd := range everyCommand() {
		cmd.InitDefaultHelpFlag()
		seen := map[string]bool{}
		for _, g := range cli.FlagGroups(cmd) {
			for _, f := range g.Flags {
				require.False(t, seen[f.Name], "%s: --%s stands twice", cmd.CommandPath(), f.Name)
				seen[f.Name] = true
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			require.Equal(t, !f.Hidden, seen[f.Name], "%s: --%s", cmd.CommandPath(), f.Name)
		})
		if cmd.CommandPath() != "pinfold run" {
			continue
		}
		var first []string
		for _, f := range cli.FlagGroups(cmd)[0].Flags {
			first = append(first, f.Name)
		}
		require.Equal(t, []string{"directory", "write-path", "git", "hide", "mask", "policy", "preset", "net", "allow-host", "after-read", "git-author", "ro", "home", "cache", "env", "secret", "secret-file", "socket", "device", "approve", "mcp", "app", "help"}, first)
	}
}

// The names that commands had work, and are not shown.
func TestOldNames(t *testing.T) {
	_, root := call(t, "--help")
	about := func(args ...string) string { // what its help says before the usage
		code, out := call(t, append(args, "--help")...)
		require.Equal(t, cli.ExitOK, code)
		text, _, _ := strings.Cut(out, "\nUsage:\n")
		return text
	}
	for old, now := range map[string][]string{
		"request": {"requests", "new"}, "flags": {"policy", "export"}, "await": {"wait"}, "skill": {"skills"},
	} {
		require.NotContains(t, root, "\n  "+old+" ")
		require.Equal(t, about(now...), about(old), old)
	}
}
