package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// headings is where a command keeps the headings of its flags: "TITLE: NAME NAME", a
// line each.
const headings = "headings"

// Heading puts flags of cmd under a heading in its help, its man page and the manual,
// in the order of the names, after those that are there already. Headings appear in
// the order in which they are given. Flags without a heading come last under the first
// one.
func Heading(cmd *cobra.Command, title string, names ...string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	lines := strings.Split(cmd.Annotations[headings], "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, title+":") })
	if at < 0 {
		at = len(lines) - 1
		lines = append(lines, "")
		lines[at] = title + ":"
	}
	lines[at] += " " + strings.Join(names, " ")
	cmd.Annotations[headings] = strings.Join(lines, "\n")
}

// FlagGroup is flags of a command under one heading.
type FlagGroup struct {
	Title string
	Flags []*pflag.Flag
}

// FlagGroups are the visible flags of a command, each once.
func FlagGroups(cmd *cobra.Command) []FlagGroup {
	var groups []FlagGroup
	var placed []string
	for line := range strings.Lines(cmd.Annotations[headings]) {
		title, names, _ := strings.Cut(strings.TrimSpace(line), ":")
		g := FlagGroup{Title: title}
		for _, name := range strings.Fields(names) {
			if f := cmd.Flags().Lookup(name); f != nil && !f.Hidden {
				g.Flags = append(g.Flags, f)
				placed = append(placed, name)
			}
		}
		groups = append(groups, g)
	}
	if groups == nil {
		groups = []FlagGroup{{Title: "Flags"}}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(placed, f.Name) {
			groups[0].Flags = append(groups[0].Flags, f)
		}
	})
	return slices.DeleteFunc(groups, func(g FlagGroup) bool { return len(g.Flags) == 0 })
}

// Usage prints how a command is called, as cobra does, but with the headings, and
// without old names.
func Usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	_, _ = fmt.Fprintf(w, "Usage:\n")
	if cmd.Runnable() && cmd.HasParent() {
		_, _ = fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		_, _ = fmt.Fprintf(w, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.Example != "" {
		_, _ = fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		for _, g := range cmd.Groups() {
			printCommands(w, cmd, g.Title, g.ID)
		}
		title := "Commands:"
		if len(cmd.Groups()) > 0 {
			title = "Others:"
		}
		printCommands(w, cmd, title, "")
	}
	for _, g := range FlagGroups(cmd) {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		for _, f := range g.Flags {
			flags.AddFlag(f)
		}
		_, _ = fmt.Fprintf(w, "\n%s:\n%s", g.Title, flags.FlagUsages())
	}
	if cmd.HasAvailableSubCommands() {
		_, _ = fmt.Fprintf(w, "\n'%s COMMAND --help' says more about a command.\n", cmd.CommandPath())
	}
	return nil
}

func printCommands(w io.Writer, cmd *cobra.Command, title, group string) {
	_, _ = fmt.Fprintf(w, "\n%s\n", title)
	for _, c := range cmd.Commands() {
		if c.GroupID == group && (c.IsAvailableCommand() || c.Name() == "help") {
			_, _ = fmt.Fprintf(w, "  %-*s %s\n", cmd.NamePadding(), c.Name(), c.Short)
		}
	}
}

// OldName is a command under a name that it used to have. It works and is not shown.
func OldName(cmd *cobra.Command, name string) *cobra.Command {
	_, args, _ := strings.Cut(cmd.Use, " ")
	cmd.Use, cmd.Hidden = strings.TrimSpace(name+" "+args), true
	return cmd
}
