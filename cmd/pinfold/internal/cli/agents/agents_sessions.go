package agents

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func newAgentsSessions(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions [flags] ID [add NAME [ROUTE]|remove NAME]",
		Short: "List an agent's sessions, and register their routes",
		Long: `sessions lists the session keys under which an agent is sent to, and to which
channel its answers go from there, or changes them: add registers a session
agent:ID:NAME, or gives one that is there another ROUTE, in words of whatever
carries the messages; without ROUTE it has none. Patterns such as
agent:*:whatsapp:* are about these keys, so only the operator may change them.`,
		Example: "  pinfold agents sessions main add whatsapp:group:7 'whatsapp/Family'\n  pinfold agents sessions main",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return cli.UsageError(errors.New("no ID is given"), cli.SeeHelp(cmd))
			case len(args) == 1:
				return nil
			case args[1] != "add" && args[1] != "remove":
				return cli.UsageError(cli.UnknownWord("change", args[1], "add", "remove"), "")
			case len(args) < 3 || args[1] == "remove" && len(args) > 3 || len(args) > 4:
				return cli.UsageError(errors.New("add takes a name and perhaps a route, remove a name"), cli.SeeHelp(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) (err error) {
				var g broker.Agent
				if len(args) == 1 {
					g, err = c.Agent(ctx, args[0])
				} else {
					body := brokerhttp.SessionBody{Name: args[2], Remove: args[1] == "remove"}
					if len(args) == 4 {
						body.Route = args[3]
					}
					g, err = c.SetSession(ctx, args[0], body)
				}
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), g, func() {
					for _, s := range g.AllSessions() {
						a.Out.Stdout.Printf("%s → %s\n", s.Key, routeText(s.Route))
					}
				})
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

func routeText(route string) string {
	if route == "" {
		return "no routing"
	}
	return pathresolver.EscapePath(route)
}
