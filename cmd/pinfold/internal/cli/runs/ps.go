package runs

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewPs is the command ps.
func NewPs(a *cli.App) *cobra.Command {
	var all, asJSON, quiet bool
	cmd := operators(&cobra.Command{
		Use:   "ps [flags]",
		Short: "List the runs that go on: id, process, project, write paths, command",
		Long: `ps lists the runs of this user, by the id that 'pinfold stop', 'pinfold left' and the
like take. What follows the '-' in an id is enough, as is the name that 'pinfold run
--name' gave. Agents that were hired are in 'pinfold status'.`,
		Example: `  pinfold ps
  pinfold ps --json | jq -r '.runs[] | select(.app == "claude").id'`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := live.List(all)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return printJSON(a.Out, list)
			case quiet:
				for _, r := range list {
					a.Out.Stdout.Printf("%s\n", r.ID)
				}
				return nil
			}
			return printTable(a.Out, list)
		},
	})
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also runs that have ended: the latest 100 are remembered")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print ids alone")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (docs/schema/ps.schema.json)")
	return cmd
}

// printJSON prints runs as docs/schema/ps.schema.json describes.
func printJSON(o *cli.Output, list []live.Record) error {
	esc := func(p cli.PathText) cli.PathText { return cli.PathText(pathresolver.EscapePath(string(p))) }
	shown := []live.Record{}
	for _, r := range list {
		r.Root, r.Command = esc(r.Root), pathresolver.EscapePath(r.Command)
		paths := []cli.PathText{}
		for _, p := range r.WritePaths {
			paths = append(paths, esc(p))
		}
		r.WritePaths = paths
		shown = append(shown, r)
	}
	return cli.WriteJSON(o.Stdout, struct {
		Runs []live.Record `json:"runs"`
	}{shown})
}

// longest is how much of a command or of write paths stands in the table.
const longest = 40

func printTable(o *cli.Output, list []live.Record) error {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "RUN\tNAME\tSTARTED\tPROCESS\tCOMMAND\tDIRECTORY\tWRITES") // to memory
	for _, r := range list {
		var writes []string
		for _, p := range r.WritePaths {
			writes = append(writes, pathresolver.EscapePath(string(p)))
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, cmp.Or(r.Called(), "-"), age(r.Started), process(&r),
			short(pathresolver.EscapePath(r.Command)), pathresolver.EscapePath(string(r.Root)), short(cmp.Or(strings.Join(writes, " "), "-")))
	}
	_ = w.Flush()
	o.Stdout.Printf("%s", text.String())
	return nil
}

// process is the process of a run, or how it ended.
func process(r *live.Record) string {
	switch {
	case r.PID != 0:
		return fmt.Sprint(r.PID)
	case r.Ended != "":
		return fmt.Sprintf("ended, %d", r.Code)
	}
	return "killed"
}

func age(started string) string {
	t, err := time.Parse(time.RFC3339Nano, started)
	if err != nil {
		return "-"
	}
	return cli.Age(t)
}

func short(text string) string {
	if r := []rune(text); len(r) > longest {
		return string(r[:longest-3]) + "..."
	}
	return text
}
