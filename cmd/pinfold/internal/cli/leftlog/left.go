package leftlog

import (
	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// New is the command left.
func New(a *cli.App) *cobra.Command {
	var root string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "left [flags] [RUN]",
		Short: "Show what runs left that can act later: links that lead out, hooks, files that a build runs",
		Long: `left shows what runs in the project at DIR left, and what is still there of it,
or, with RUN, what that run left. A run that leaves something says its name. Told
are links that lead out of the write paths, FIFOs and sockets, git repositories
that were made, operations of git that were begun and not finished, files that a
program runs by itself or that a build, a test or a push runs, packages, and
executables. Sources are not told: a diff shows them.

What the latest 100 runs left is remembered, in $XDG_STATE_HOME/pinfold/left.`,
		Example: `  pinfold left
  pinfold left --json | jq -r '.runs[].items[] | select(.kind == "link").path'`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return latestLeft(prefix), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var records []Record
			var err error
			if len(args) > 0 {
				records, err = leftNamed(args[0])
			} else {
				records, err = leftIn(root)
			}
			if err != nil {
				return err
			}
			records = stillLeft(records)
			if asJSON {
				return printLeftJSON(a.Out, records)
			}
			printLeft(a.Out, records)
			return nil
		},
	}
	cmd.Flags().StringVarP(&root, "directory", "C", ".", "the project, or a directory in it, at `DIR`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (docs/schema/left.schema.json)")
	return cmd
}

// printLeftJSON prints records as docs/schema/left.schema.json describes.
func printLeftJSON(o *cli.Output, records []Record) error {
	esc := pathresolver.EscapePath
	shown := []Record{}
	for _, r := range records {
		r.Root, r.Command = esc(r.Root), esc(r.Command)
		items := make([]leftover.Item, 0, len(r.Items))
		for _, i := range r.Items {
			items = append(items, Escaped(i))
		}
		r.Items = items
		shown = append(shown, r)
	}
	return cli.WriteJSON(o.Stdout, struct {
		Runs []Record `json:"runs"`
	}{shown})
}

// printLeft prints records for a person.
func printLeft(o *cli.Output, records []Record) {
	esc := pathresolver.EscapePath
	for n, r := range records {
		if n > 0 {
			o.Stdout.Printf("\n")
		}
		o.Stdout.Printf("%s  %s  %s\n", r.Run, esc(r.Root), o.Stdout.Paint(cli.ColourDim, esc(r.Command)))
		for _, i := range r.Items {
			o.Stdout.Printf("  %s  %s\n", leftName(r.Root, i.Path), o.Stdout.Paint(cli.ColourDim, leftText(i)))
		}
		if r.Omitted > 0 {
			o.Stdout.Printf("  %s\n", omittedText(r.Omitted))
		}
	}
}
