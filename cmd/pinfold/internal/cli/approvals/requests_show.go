package approvals

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// shownRequest is a request with what it would change.
type shownRequest struct {
	Request  broker.Request      `json:"request"`
	Proposal brokerhttp.Proposal `json:"proposal"`
}

func newRequestsShow(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [flags] ID",
		Short: "Show one request whole, with what it would change",
		Long: `show prints a request and the difference that its call would make to the files as
they are now. Nothing is changed by it. The agent that asks, its manager and the
operator may look.`,
		Example: "  pinfold requests show 0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77",
		Args:    cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.WithRequest(cmd, a, args[0], func(ctx context.Context, c *brokerhttp.Client) error {
				r, err := c.Request(ctx, args[0])
				if err != nil {
					return err
				}
				p, err := c.Proposal(ctx, r.ID)
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), shownRequest{r, p}, func() { printWhole(a, r, p) })
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

// printWhole prints all of a request. What the agent wrote is escaped, and the
// difference stands last: no text of it passes for a field.
func printWhole(a *cli.App, r broker.Request, p brokerhttp.Proposal) {
	line := func(key, value string) {
		if value != "" {
			a.Out.Stdout.Printf("%-8s %s\n", key+":", value)
		}
	}
	esc := pathresolver.EscapePath
	line("id", r.ID)
	line("status", string(r.Status))
	line("agent", esc(r.AgentID))
	line("what", esc(string(r.Action))+" '"+esc(r.Resource)+"'")
	for _, also := range r.Also {
		line("and", esc(string(also.Action))+" '"+esc(also.Resource)+"'")
	}
	line("tool", esc(r.Tool))
	line("reason", esc(r.Reason))
	line("asked", cli.Age(r.CreatedAt)+" ago")
	if !r.Deadline.IsZero() {
		line("ends", r.Deadline.Local().Format(time.DateTime))
	}
	if r.Status != broker.Pending {
		line("scope", string(r.Scope))
		line("answer", esc(r.Denial()))
	}
	if r.Input != "{}" {
		line("input", esc(r.Input))
	}
	line("note", esc(p.Note))
	for text := range strings.Lines(p.Diff) {
		a.Out.Stdout.Printf("  %s\n", diffLine(a, strings.TrimSuffix(text, "\n")))
	}
}

// diffLine is a line of a difference, in the colour of its kind. Tabs stay.
func diffLine(a *cli.App, text string) string {
	parts := strings.Split(text, "\t")
	for i := range parts {
		parts[i] = pathresolver.EscapePath(parts[i])
	}
	text = strings.Join(parts, "\t")
	switch {
	case strings.HasPrefix(text, "+"):
		return a.Out.Stdout.Paint(cli.ColourGood, text)
	case strings.HasPrefix(text, "-"):
		return a.Out.Stdout.Paint(cli.ColourBad, text)
	}
	return text
}
