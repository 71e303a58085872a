package approvals

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func NewRequests(a *cli.App) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "requests [flags]",
		Short: "List the requests that wait for your answer, or answer them at a screen",
		Long: `requests lists what waits for your answer; 'requests show' has one whole, with the
difference that a proposed write would make. With --watch it is an inbox on the
terminal: what is wanted, by whom, why, and the difference, live, to be answered
by a key.`,
		Example: "  pinfold requests\n  pinfold requests --watch\n  pinfold requests show 0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return watchRequests(a, cmd)
			}
			return listOfEach(a, cmd, (*brokerhttp.Client).Requests)
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "show them on the terminal as they come, and answer them by keys")
	cmd.AddCommand(newRequestsShow(a))
	return cmd
}

// listOfEach prints what the brokers of the operator's list.
func listOfEach(a *cli.App, cmd *cobra.Command, of func(*brokerhttp.Client, context.Context) ([]broker.Request, error)) error {
	list := []broker.Request{}
	err := brokerclient.WithEach(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
		more, err := of(c, ctx)
		list = append(list, more...)
		return err
	})
	if err != nil {
		return err
	}
	return brokerclient.Print(a, brokerclient.AsJSON(cmd), brokerhttp.List[broker.Request]{Items: list}, func() {
		for _, r := range list {
			printRequest(a, r)
		}
	})
}

// printRequest prints a request, or a grant, on one line, and its reason on the
// next.
func printRequest(a *cli.App, r broker.Request) {
	esc := pathresolver.EscapePath
	state := cli.Age(r.CreatedAt)
	if r.Status != broker.Pending {
		state = string(r.Scope)
		if !r.Until.IsZero() {
			state += " until " + r.Until.Local().Format(time.DateTime)
		}
	}
	a.Out.Stdout.Printf("%s  %s  %s '%s'  %s\n", r.ID, esc(r.AgentID), esc(string(r.Action)), esc(r.Resource), state)
	for _, also := range r.Also {
		a.Out.Stdout.Printf("  and: %s '%s'\n", esc(string(also.Action)), esc(also.Resource))
	}
	if r.Reason != "" {
		a.Out.Stdout.Printf("  reason: %s\n", esc(r.Reason))
	}
}
