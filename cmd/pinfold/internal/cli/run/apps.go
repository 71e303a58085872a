package run

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/launchprofile"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewApps is the command app, which shows launch profiles.
func NewApps(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "app",
		Short: "List and show the launch profiles of run --app",
		Args:  cli.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAppList(a), newAppShow(a))
	return cmd
}

// appJSON is one app, as docs/schema/app.schema.json describes it.
type appJSON struct {
	*launchprofile.Profile
	Installed *launchprofile.Installation `json:"installed"` // null: it is not
	Install   string                      `json:"install"`   // what to type
	KeptHome  string                      `json:"kept_home"`
}

func appOf(o *cli.Output, name string) (appJSON, error) {
	p, err := launchprofile.Load(name, hostfile.Written(o))
	if err != nil {
		return appJSON{}, err
	}
	app := appJSON{Profile: p, Install: p.Install()}
	app.KeptHome, _ = p.KeptHome() // "" where there is no home
	found, err := launchprofile.Find(hostOf(o, ""), p.Program, p.LookIn, p.Layouts)
	switch {
	case err == nil:
		app.Installed = &found
	case !launchprofile.NotFound(err):
		return app, err
	}
	return app, nil
}

func newAppList(a *cli.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the apps, and where they are installed",
		Long: `list prints the apps that 'pinfold run --app NAME' starts: those that pinfold
brings, and your own, which lie in $XDG_CONFIG_HOME/pinfold/apps/NAME.yaml.`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list := struct {
				Apps []appJSON `json:"apps"`
			}{[]appJSON{}}
			var wrong error
			for _, name := range launchprofile.Names() {
				app, err := appOf(a.Out, name)
				if err != nil {
					wrong = errors.Join(wrong, err)
					continue
				}
				list.Apps = append(list.Apps, app)
			}
			if asJSON {
				return errors.Join(cli.WriteJSON(a.Out.Stdout, list), wrong)
			}
			for _, app := range list.Apps {
				version, where := "-", "not installed: "+app.Install
				if app.Install == "" {
					where = "not installed"
				}
				if app.Installed != nil {
					version, where = app.Installed.Version, app.Installed.Path
				}
				a.Out.Stdout.Printf("%-12s %-12s %s\n", app.Name, version, pathresolver.EscapePath(where))
			}
			return wrong
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (docs/schema/app.schema.json)")
	return cmd
}

func newAppShow(a *cli.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print an app's launch profile",
		Long: `show prints the file of a launch profile. With --json it is the profile with all
that it takes over from another, and where the program was found here.`,
		Args: cli.OneArg("NAME"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return launchprofile.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				app, err := appOf(a.Out, args[0])
				if err != nil {
					return cli.UsageError(err, "")
				}
				return cli.WriteJSON(a.Out.Stdout, app)
			}
			p, err := launchprofile.Load(args[0], hostfile.Written(a.Out))
			if err != nil {
				return cli.UsageError(err, "'pinfold app list' shows the apps that there are")
			}
			text, err := p.Text()
			if err != nil {
				return err
			}
			a.Out.Stdout.Printf("%s", text)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (docs/schema/app.schema.json)")
	return cmd
}
