package runs

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
)

// stopAfter is how long a command has after SIGTERM, as with docker and podman.
const stopAfter = 10

// longestStop bounds --time, in seconds: a day.
const longestStop = 24 * 60 * 60

// NewStop is the command stop.
func NewStop(a *cli.App) *cobra.Command {
	seconds := stopAfter
	cmd := operators(&cobra.Command{
		Use:   "stop [flags] RUN...",
		Short: "End runs: SIGTERM to the command, and then an end to everything inside",
		Long: `stop gives the command of each RUN SIGTERM and continues it if it is stopped. What is
still there after a while is killed, at one blow and whatever it does. It prints how each
run ended, and by which name 'pinfold left' tells what it left. The run itself tells that
where it was started, as at any end.`,
		Example: `  pinfold stop build
  pinfold stop --time 0 $(pinfold ps -q)`,
		Args:              someRuns,
		ValidArgsFunction: complete(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if seconds < 0 || seconds > longestStop {
				return cli.UsageError(fmt.Errorf("--time %d: want 0 to %d", seconds, longestStop), "")
			}
			ctx, done := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer done()
			failed := false
			for _, word := range args {
				r, err := live.Find(word)
				var ended live.Ended
				if err == nil {
					ended, err = r.Stop(ctx, time.Duration(seconds)*time.Second)
				}
				if ctx.Err() != nil {
					return cli.Silent(cli.ExitSignal + int(syscall.SIGINT))
				}
				if err != nil {
					a.Out.Failure(err)
					failed = true
					continue
				}
				tellEnded(a.Out, r.ID, ended)
			}
			if failed {
				return cli.Silent(cli.ExitFailed)
			}
			return nil
		},
	})
	cmd.Flags().IntVarP(&seconds, "time", "t", stopAfter, "kill what is still there after `SECONDS`")
	return cmd
}

func tellEnded(o *cli.Output, id string, ended live.Ended) {
	how := fmt.Sprintf("ended with exit code %d", ended.Code)
	if ended.Killed {
		how = "was killed: its process did not answer"
	}
	if ended.Left != "" {
		how += "; 'pinfold left " + ended.Left + "' lists what it left"
	}
	o.Stdout.Printf("%s %s\n", id, how)
}
