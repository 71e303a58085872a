package cache

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/caches"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// New is the command cache.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache COMMAND",
		Short: "List, remove and promote what runs with --cache have added to caches",
		Long: `A run with --cache sees your cache of a package manager with a private layer over
it. What the run adds stays in the layer, which the next run of the same project
finds again. cache lists these layers, removes them, and takes over to your own
cache what a checksum proves.

All layers together hold at most 10 GiB: the oldest go when a run with --cache
begins. One that no run has used for 30 days goes, too.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newList(a), newPrune(a), newPromote(a))
	return cmd
}

// layerJSON is a layer as docs/schema/cache.schema.json describes it.
type layerJSON struct {
	Project   cli.PathText `json:"project"`
	Cache     string       `json:"cache"`
	Used      string       `json:"used"`
	Bytes     int64        `json:"bytes"`
	AtLeast   bool         `json:"at_least"`
	Busy      bool         `json:"busy"`
	Temporary bool         `json:"temporary"`
}

func newList(a *cli.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List the layers that runs keep over caches, those used longest ago first",
		Example: `  pinfold cache list
  pinfold cache list --json | jq '[.layers[].bytes] | add'`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			base, err := state.CachesDir()
			if err != nil {
				return err
			}
			list, err := caches.List(base)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.Out, list)
			}
			return printTable(a.Out, list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (docs/schema/cache.schema.json)")
	return cmd
}

func printJSON(o *cli.Output, list []caches.Layer) error {
	shown := []layerJSON{}
	for _, l := range list {
		shown = append(shown, layerJSON{Project: cli.PathText(pathresolver.EscapePath(l.Project)), Cache: l.Cache, Used: cli.TimeText(l.Used),
			Bytes: l.Bytes, AtLeast: l.Large, Busy: l.Busy, Temporary: l.Temporary})
	}
	return cli.WriteJSON(o.Stdout, struct {
		Layers []layerJSON `json:"layers"`
	}{shown})
}

func printTable(o *cli.Output, list []caches.Layer) error {
	if len(list) == 0 {
		return nil
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "CACHE\tSIZE\tUSED\tPROJECT\t") // to memory
	for _, l := range list {
		note := ""
		switch {
		case l.Busy:
			note = "in use"
		case l.Temporary:
			note = "to be thrown away"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.Cache, sizeText(l), l.Used.Local().Format("2006-01-02 15:04"), pathresolver.EscapePath(l.Project), note) // to memory
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		o.Stdout.Printf("%s\n", strings.TrimRight(line, " \n"))
	}
	return nil
}

// sizeText is a size for a person.
func sizeText(l caches.Layer) string {
	more := ""
	if l.Large {
		more = "more than "
	}
	switch n := float64(l.Bytes); {
	case n >= 1<<30:
		return fmt.Sprintf("%s%.1fG", more, n/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%s%.0fM", more, n/(1<<20))
	default:
		return fmt.Sprintf("%s%.0fK", more, n/(1<<10))
	}
}

// age is a flag's value: a number of days, or what time.ParseDuration takes.
type age time.Duration

func (d *age) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type is how the value is called in the help.
func (d *age) Type() string { return "AGE" }

// Set reads an age.
func (d *age) Set(text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return fmt.Errorf("%q is no number of days", text)
		}
		*d = age(time.Duration(n) * 24 * time.Hour)
		return nil
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is no age, such as 30d or 12h", text)
	}
	*d = age(parsed)
	return nil
}

func newPrune(a *cli.App) *cobra.Command {
	var all bool
	var older age
	var root string
	cmd := &cobra.Command{
		Use:   "prune [flags]",
		Short: "Remove layers over caches that no run uses: what runs have added, not your caches",
		Long: `prune removes layers that no run has used for 30 days, and what was left of runs
that were not alone in their project. --older says another age, --all removes all
of them, and -C those of one project alone. A layer in use stays. Your own caches
are not touched.`,
		Example: `  pinfold cache prune --older 7d
  pinfold cache prune --all -C ~/code/project`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			base, err := state.CachesDir()
			if err != nil {
				return err
			}
			project := ""
			if cmd.Flags().Changed("directory") {
				if project, err = projectRoot(root); err != nil {
					return err
				}
			}
			oldest := cmp.Or(time.Duration(older), caches.KeptFor)
			now := time.Now()
			removed, err := caches.Prune(base, func(l caches.Layer) bool {
				old := all || l.Temporary || now.Sub(l.Used) > oldest
				if cmd.Flags().Changed("older") && older == 0 {
					old = true
				}
				return old && (project == "" || l.Project == project)
			})
			for _, l := range removed {
				a.Out.Stdout.Printf("removed  %s  %s  %s\n", l.Cache, sizeText(l), pathresolver.EscapePath(l.Project))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all of them, however old")
	cmd.Flags().Var(&older, "older", "those that no run has used for `AGE`, such as 7d or 12h (default 30d)")
	cmd.Flags().StringVarP(&root, "directory", "C", "", "those of the project at `DIR` alone")
	_ = cmd.MarkFlagDirname("directory")
	cmd.MarkFlagsMutuallyExclusive("all", "older")
	return cmd
}

// projectRoot is the path of a project that layers are kept by. A project that is gone
// keeps the path that it had.
func projectRoot(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}
