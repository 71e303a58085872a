package runs

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
	"github.com/pinfold-dev/pinfold/launcher"
)

// NewExec is the command exec.
func NewExec(a *cli.App) *cobra.Command {
	var env []string
	cmd := operators(&cobra.Command{
		Use:   "exec [flags] RUN -- CMD [ARG]...",
		Short: "Run a further command inside a run, with the rights of its first one and no more",
		Long: `exec has RUN start CMD inside: it sees the same files, may write the same paths, and has
the same environment, limits and network as the command that the run was started with.
It gets a terminal of its own if exec is called on one. It gets SIGHUP when exec goes, and
ends with the run.

The exit code is CMD's own, or one of those of 'pinfold run'.`,
		Example: `  pinfold exec build -- bash
  pinfold exec build -- git status`,
		Annotations: map[string]string{cli.OwnErrors: "yes"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError(errors.New("no run is named"), "'pinfold ps' lists what runs")
			}
			if len(command(args)) == 0 {
				return cli.UsageError(errors.New("no command is given"), "pinfold exec [flags] RUN -- CMD [ARG]...")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return complete(false)(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.RefuseDashes("--env", env...); err != nil {
				return err
			}
			r, err := live.Find(args[0])
			if err != nil {
				return err
			}
			a.Out.WarnUnset(env)
			c := launcher.JoinConfig{
				Command: command(args), Env: environment(env),
				Stdin: cli.File(a.Stdin), Stdout: cli.File(a.Out.Stdout.Writer), Stderr: cli.File(a.Out.Stderr.Writer),
			}
			result, err := r.Exec(cmd.Context(), c)
			if err != nil {
				return err
			}
			if result.Reason != "" {
				a.Out.Error(result.Reason)
			}
			for _, err := range result.Unwritten {
				a.Out.Error(err.Error())
			}
			return cli.Silent(result.ExitCode)
		},
	})
	cmd.Flags().SetInterspersed(false) // what follows RUN belongs to CMD
	cmd.Flags().StringArrayVar(&env, "env", nil, "pass `KEY[=VAL]` on to CMD, besides the environment of the run (repeatable)")
	return cmd
}

// command is what follows RUN.
func command(args []string) []string {
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	return args
}

// environment is what the flags add, and the kind of the terminal here, which need not be
// that of the run.
func environment(flags []string) (env []string) {
	for _, key := range []string{"TERM", "COLORTERM"} {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	for _, kv := range flags {
		key, value, set := strings.Cut(kv, "=")
		if !set {
			value, set = os.LookupEnv(key)
		}
		if set {
			env = append(env, key+"="+value)
		}
	}
	return env
}
