package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NewMan writes the man pages from the same text as --help, so that the two
// cannot differ. It is for packagers, and hidden. (cobra's own generator reads
// Markdown with tables that cost each start of pinfold 0.3 ms.)
func NewMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the man pages into DIR",
		Hidden: true,
		Args:   OneArg("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("man pages: %w", err)
			}
			root := cmd.Root()
			for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
				if c != root && !c.IsAvailableCommand() {
					continue
				}
				file := filepath.Join(args[0], manName(c)+".1")
				if err := os.WriteFile(file, []byte(manPage(c)), 0o644); err != nil {
					return fmt.Errorf("man pages: %w", err)
				}
			}
			return nil
		},
	}
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is one page in the language of man(7).
func manPage(c *cobra.Command) string {
	var b strings.Builder
	section := func(name string) { fmt.Fprintf(&b, ".SH %s\n", name) }
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"pinfold %s\" pinfold\n", roff(strings.ToUpper(manName(c))), roff(BuildVersion()))
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(manName(c)), roff(c.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n", roff(c.UseLine()))
	if c.Long != "" {
		section("DESCRIPTION")
		b.WriteString(strings.ReplaceAll(roff(c.Long), "\n\n", "\n.PP\n") + "\n")
	}
	if c.HasAvailableFlags() {
		section("OPTIONS")
		for i, g := range FlagGroups(c) {
			if i > 0 {
				fmt.Fprintf(&b, ".SS %s\n", roff(g.Title))
			}
			for _, f := range g.Flags {
				manFlag(&b, f)
			}
		}
	}
	section("EXIT STATUS")
	meanings := exitMeanings
	if c.Annotations[OwnErrors] != "" {
		meanings = runExitMeanings
	}
	for _, m := range meanings {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(m.code), roff(m.text))
	}
	if c == c.Root() {
		b.WriteString("A run has codes of its own:\n.BR pinfold\\-run (1).\n")
	}
	if c.Example != "" {
		section("EXAMPLES")
		fmt.Fprintf(&b, ".EX\n%s\n.EE\n", roff(c.Example))
	}
	section("SEE ALSO")
	related := []string{}
	for _, other := range append([]*cobra.Command{c.Root()}, c.Root().Commands()...) {
		if other != c && (other == c.Root() || other.IsAvailableCommand()) {
			related = append(related, ".BR "+roff(manName(other))+" (1)")
		}
	}
	b.WriteString(strings.Join(related, ",\n") + "\n")
	return b.String()
}

func manFlag(b *strings.Builder, f *pflag.Flag) {
	value, text := pflag.UnquoteUsage(f)
	names := "--" + f.Name
	if f.Shorthand != "" {
		names = "-" + f.Shorthand + ", " + names
	}
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(names))
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(b, "\n%s\n", roff(text))
}

// roff escapes text for troff: backslashes, dashes that are typed, and the
// dots and quotes that begin a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
