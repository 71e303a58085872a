package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

const manual = "../../docs/cli.md"

var update = flag.Bool("update", false, "write what cmp found different into the sessions, and the help into docs/cli.md")

var helpBlock = regexp.MustCompile(`(?s)(<!-- help: ([a-z -]+) -->\n).*?(<!-- /help -->\n)`)

// TestManualIsTheHelp holds that docs/cli.md says of each command what its help says.
// go test ./cmd/pinfold -run TestManualIsTheHelp -update writes it.
func TestManualIsTheHelp(t *testing.T) {
	data, err := os.ReadFile(manual)
	require.NoError(t, err)
	commands := map[string]*cobra.Command{}
	for _, cmd := range everyCommand() {
		if !cmd.Hidden && !cmd.HasAvailableSubCommands() || cmd.CommandPath() == "pinfold skills" || cmd.CommandPath() == "pinfold requests" {
			commands[cmd.CommandPath()] = cmd
		}
	}
	shared := policyFlags(t, commands)
	written := map[string]bool{}
	now := helpBlock.ReplaceAllStringFunc(string(data), func(block string) string {
		m := helpBlock.FindStringSubmatch(block)
		written[m[2]] = true
		if m[2] == "policy flags" {
			return m[1] + flagTables(commands["pinfold run"], func(f *pflag.Flag) bool { return slices.Contains(shared, f.Name) }) + m[3]
		}
		cmd := commands[m[2]]
		require.NotNil(t, cmd, "there is no command %q", m[2])
		return m[1] + helpOf(cmd, shared) + m[3]
	})
	for path := range commands {
		require.True(t, written[path], "docs/cli.md has no help of %q: <!-- help: %s --> and <!-- /help -->", path, path)
	}
	if *update {
		require.NoError(t, os.WriteFile(manual, []byte(now), 0o644))
		return
	}
	require.True(t, now == string(data), "docs/cli.md is not what the commands' help says: go test ./cmd/pinfold -run TestManualIsTheHelp -update")
}

// policyFlags are the flags that all commands have that hold a policy.
func policyFlags(t *testing.T, commands map[string]*cobra.Command) (names []string) {
	commands["pinfold why"].Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && commands["pinfold run"].Flags().Lookup(f.Name) != nil {
			names = append(names, f.Name)
		}
	})
	require.Contains(t, names, "write-path")
	return names
}

// helpOf is a command's help in Markdown.
func helpOf(cmd *cobra.Command, shared []string) string {
	var b strings.Builder
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(&b, "%s\n\n```\n%s\n", strings.ReplaceAll(text, "<", "&lt;"), cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n%s\n", cmd.Example)
	}
	b.WriteString("```\n")
	if cmd.GroupID == "apps" && cmd.Flags().Lookup("dry-run") != nil { // an agent by its name
		b.WriteString("\nIt has the flags of [run](#pinfold-run) but for `--app`.\n")
		return b.String()
	}
	all := !slices.ContainsFunc(shared, func(name string) bool { return cmd.Flags().Lookup(name) == nil })
	if all {
		b.WriteString("\nIt has the [policy flags](#policy-flags).\n")
	}
	b.WriteString(flagTables(cmd, func(f *pflag.Flag) bool { return !all || !slices.Contains(shared, f.Name) }))
	return b.String()
}

// flagTables are flags of a command under their headings.
func flagTables(cmd *cobra.Command, which func(*pflag.Flag) bool) string {
	var b strings.Builder
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`)
	for _, g := range cli.FlagGroups(cmd) {
		first := true
		for _, f := range g.Flags {
			if f.Name == "help" || !which(f) {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n", strings.ToLower(g.Title))
				first = false
			}
			value, usage := pflag.UnquoteUsage(f)
			names := "--" + f.Name
			if f.Shorthand != "" {
				names = "-" + f.Shorthand + "`, `" + names
			}
			if value != "" {
				names += " " + strings.ReplaceAll(value, "|", `\|`)
			}
			if !slices.Contains([]string{"", "[]", "false", "0", "0s"}, f.DefValue) && f.Value.Type() != "duration" {
				usage += " (default " + f.DefValue + ")"
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", names, cell.Replace(usage))
		}
	}
	return b.String()
}
