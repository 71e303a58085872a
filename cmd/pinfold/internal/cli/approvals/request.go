package approvals

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// askedFor are the operations on a path that can be asked for.
var askedFor = []string{"read", "list", "write", "create", "delete", "move", "meta"}

// NewRequest is the command requests new.
func NewRequest(a *cli.App) *cobra.Command {
	var op string
	var body brokerhttp.DecideBody
	var noWait bool
	cmd := &cobra.Command{
		Use:   "new [flags] PATH",
		Short: "Ask your manager for leave to do something to PATH, and wait for the answer",
		Long: `new asks for what the policy marks ask_read or ask_write, and exits with 0
when it was approved, or is allowed without asking, and 1 when it was not. What the
policy denies cannot be asked for, nor can what lies outside the project, which
--ro shows when a run is started. PATH is named from the project's
directory; inside a run also from the working directory, as every program there
names it.`,
		Example: `  pinfold requests new --reason "the version stands there" src/version.go`,
		Args:    cli.OneArg("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(askedFor, op) {
				return cli.UsageError(cli.UnknownWord("operation", op, askedFor...), "")
			}
			if !cmd.Flags().Changed("op") {
				op = usualOp(args[0])
			}
			body.Action, body.Resource = access.Action("fs."+op), placeOf(args[0])
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				r, err := c.Ask(ctx, body)
				if allowed(err) {
					return printAllowed(a, brokerclient.AsJSON(cmd), body)
				}
				if err != nil {
					return err
				}
				if r.Status == broker.Pending && !noWait {
					if !brokerclient.AsJSON(cmd) {
						a.Out.Stderr.Printf("pinfold: waiting for an answer to request %s\n", r.ID)
					}
					if r, err = c.Wait(ctx, r.ID); err != nil {
						return err
					}
				}
				return printAnswered(a, brokerclient.AsJSON(cmd), r)
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().StringVar(&op, "op", "write", "the operation: `read|list|write|create|delete|move|meta`; inside a run create is the default for what is not there")
	cmd.Flags().StringVar(&body.Reason, "reason", "", "why, for the manager: `TEXT`")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "print the request and do not wait for the answer")
	_ = cmd.RegisterFlagCompletionFunc("op", cobra.FixedCompletions(askedFor, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// placeOf is a path as a policy names the place: from the project's directory.
func placeOf(path string) string {
	root := os.Getenv("PINFOLD_ROOT")
	if root != "" && inside.Run() {
		if abs, err := filepath.Abs(path); err == nil {
			if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
				path = rel
			}
		}
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// usualOp is what is most likely meant to be done to a path.
func usualOp(path string) string {
	if inside.Run() {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return "create"
		}
	}
	return "write"
}

// allowed reports whether err says that nothing has to be asked for.
func allowed(err error) bool {
	var refused *broker.Error
	return errors.As(err, &refused) && refused.Code == permission.CodeAllowed
}

// printAllowed says that nobody was asked, because it is allowed: who wanted leave has it.
func printAllowed(a *cli.App, asJSON bool, q brokerhttp.DecideBody) error {
	v := struct {
		Status   string        `json:"status"`
		Action   access.Action `json:"action"`
		Resource string        `json:"resource"`
	}{"allowed", q.Action, q.Resource}
	return brokerclient.Print(a, asJSON, v, func() {
		a.Out.Stdout.Printf("Allowed already: %s '%s'\n", q.Action, pathresolver.EscapePath(q.Resource))
	})
}

// printAnswered says what became of a request.
func printAnswered(a *cli.App, asJSON bool, r broker.Request) error {
	err := brokerclient.Print(a, asJSON, r, func() {
		switch {
		case r.Status == broker.Pending:
			a.Out.Stdout.Printf("Requested: %s\n", r.ID)
		case r.Approval():
			a.Out.Stdout.Printf("Approved: %s '%s' (%s)\n", r.Action, pathresolver.EscapePath(r.Resource), r.Scope)
		}
	})
	switch {
	case err != nil || r.Approval() || r.Status == broker.Pending:
		return err
	case asJSON:
		return cli.Silent(cli.ExitFailed)
	}
	return errors.New(r.Denial())
}
