package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewHire is the command hire.
func NewHire(a *cli.App) *cobra.Command {
	var from policyflag.From
	var body brokerhttp.HireBody
	var launch brokerhttp.LaunchBody
	var dir, tools, net string
	var tmp cli.ByteSize
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:   "hire [flags] TASK [-- CMD [ARG]...] | --resume ID [-- CMD [ARG]...]",
		Short: "Hire a child agent, and start its command in a view of its own",
		Long: `hire registers an agent with a policy within its manager's; without one that is
named it is 'sandboxed'. CMD runs as 'pinfold run' would run it, beneath the
policy, with the task in PINFOLD_TASK and wherever {task} stands in CMD. Inside,
PINFOLD_SOCKET is the agent's own way to the broker. Without CMD the agent is
only registered: whoever runs it is told by --json where its socket is. Where CMD
cannot be started hire says why, and the ID is free again.

--git, --hide, --mask, --protect, --net and --allow-host narrow the policy. What CMD gets of the host beyond it
(--ro, --home, --env KEY) the operator gives as they like; an agent gives what the
operator allows at 'pinfold serve', or --launch NAME: a command of the operator's
with what belongs to it, a default for TASK alone.

With --resumable a message for the agent after it has exited starts CMD again;
--resume starts an agent that has exited again by hand, with the session, policy
and mailbox that it had.`,
		Example: `  pinfold hire --id docs -w docs "write the manual" -- claude -p '{task}'
  pinfold hire --agent .claude/agents/coder.md --id coder "fix the tests"
  pinfold hire --resume coder`,
		Args: hireArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if body.Resume != "" {
				body.Command = args
				return resumeAgent(a, cmd, body)
			}
			body.Task, body.Command = args[0], args[1:]
			if cmd.Flags().Changed("for") {
				if lasts <= 0 {
					return cli.UsageError(fmt.Errorf("--for %s is no time", lasts), "say how long, such as --for 2h")
				}
				body.Until = time.Now().Add(lasts)
			}
			if tools == "" && cmd.Flags().Changed("tools") {
				return cli.UsageError(errors.New("--tools was given an empty value"), "is a variable empty?")
			}
			if tools != "" {
				body.Tools = strings.Split(tools, ",")
			}
			if err := hireWhere(&body, cmd.Flags().Changed("directory"), dir); err != nil {
				return err
			}
			if cmd.Flags().Changed("directory") && !inside.Run() {
				if _, err := hostfile.RefusePlanted(dir, hostfile.Written(a.Out)); err != nil {
					return err
				}
			}
			if err := from.Into(&body); err != nil {
				return err
			}
			launch.TmpSize = int64(tmp)
			if err := hireLaunch(&body, launch, net); err != nil {
				return err
			}
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				hired, err := c.Hire(ctx, body)
				if err != nil {
					return err
				}
				if hired.Warning != "" {
					a.Out.Warning(hired.Warning)
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), hired, func() {
					a.Out.Stdout.Printf("Hired: %s\n", pathresolver.EscapePath(hired.Agent.ID))
					if len(body.Command) == 0 {
						a.Out.Hint("PINFOLD_SOCKET=" + hired.Socket + " makes a program this agent")
					}
				})
			})
		},
	}
	from.Add(cmd)
	brokerclient.JSONFlag(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&dir, "directory", "C", "", "the project `DIR`, for a child of an agent one beneath its manager's; default: the manager's, or the working directory")
	flags.StringArrayVarP(&body.WritePaths, "write-path", "w", nil, "let `PATH` beneath DIR be written (repeatable)")
	flags.BoolVar(&body.Git, "git", false, "let the unprotected part of .git be written, so that git commit works")
	flags.StringArrayVar(&body.Hide, "hide", nil, "names that match `GLOB` do not exist for it (repeatable)")
	flags.StringArrayVar(&body.Mask, "mask", nil, "names that match `GLOB` are read with stand-ins for their values, and are not changed (repeatable)")
	flags.StringArrayVar(&body.Protect, "protect", nil, "names that match `GLOB` are never writable (repeatable)")
	flags.StringVar(&launch.Profile, "launch", "", "start the command of the operator's launch profile `NAME`, with what belongs to it")
	flags.StringArrayVar(&launch.RO, "ro", nil, "show CMD `PATH` of the host, read-only; an agent only what 'serve' allows (repeatable)")
	flags.StringVar(&launch.Home, "home", "", "give CMD a home that is kept: `DIR`, or a name where 'serve' allows it")
	flags.StringArrayVar(&launch.Env, "env", nil, "pass `KEY=VAL` on to CMD, or KEY: the broker's own, where 'serve' allows it (repeatable)")
	flags.StringVar(&net, "net", "", "`none` takes the network away, whatever the policy says; allow leaves the hosts of --allow-host")
	flags.StringArrayVar(&body.AllowHost, "allow-host", nil, "of the hosts that the policy allows leave `HOST[:PORT]` alone (repeatable)")
	flags.BoolVar(&launch.Stdin, "task-stdin", false, "the task is CMD's standard input")
	flags.IntVar(&launch.MaxTasks, "pids", 0, "at most `N` processes and threads of CMD at once")
	flags.IntVar(&launch.MaxTasks, "max-tasks", 0, "the same as --pids, by its older name")
	_ = flags.MarkHidden("max-tasks")
	flags.Var(&tmp, "tmp-size", "at most `SIZE`, such as 8G, in each of /tmp, /var/tmp, /dev/shm and a private home")
	flags.DurationVar(&lasts, "for", 0, "fire the agent, and all beneath it, after `DURATION`, such as 2h")
	flags.StringVar(&body.Route, "route", "", "where the agent's answers go, such as a channel: `ROUTE`")
	flags.StringVar(&tools, "tools", "", "the tools that it may use, a `LIST` with commas; ask:NAME has to be asked for. Others are refused, or with ask:* asked for")
	flags.StringVar(&body.Model, "model", "", "the `MODEL`, for its own program to look at")
	flags.StringVar(&body.ID, "id", "", "the agent's `ID`; one is made up otherwise")
	flags.StringVar(&body.Parent, "parent", "", "the manager's `ID`, for the operator only; otherwise it is you")
	flags.BoolVar(&body.Resumable, "resumable", false, "start CMD again when a message comes for the agent after it has exited")
	flags.StringVar(&body.Resume, "resume", "", "start the agent `ID`, which has exited, again: by its command, if it is resumable, or by CMD")
	_ = cmd.MarkFlagDirname("directory")
	return cmd
}

// hireWhere says where the agent works: in its manager's directory, or, for the
// operator's own agents, here. Links are resolved now, since agents could make them
// lead elsewhere later.
func hireWhere(body *brokerhttp.HireBody, given bool, dir string) (err error) {
	switch {
	case given:
		body.Cwd, err = filepath.Abs(dir)
		if dir == "" {
			err = cli.UsageError(errors.New("-C was given an empty value"), "is a variable empty?")
		}
	case body.Parent == "" && !inside.Run():
		body.Cwd, err = os.Getwd()
	}
	if real, missing := filepath.EvalSymlinks(body.Cwd); body.Cwd != "" && missing == nil {
		body.Cwd = real
	}
	return err
}

// hireArgs wants a task, and perhaps a command after --; with --resume only that.
func hireArgs(cmd *cobra.Command, args []string) error {
	before := len(args)
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		before = dash
	}
	resumed := cmd.Flags().Changed("resume")
	switch {
	case resumed && cmd.Flag("resume").Value.String() == "":
		return cli.UsageError(errors.New("--resume was given an empty value"), "is a variable empty?")
	case resumed && before > 0:
		return cli.UsageError(fmt.Errorf("unexpected argument %q", args[0]), "an agent is started again with the task that it had; the command stands after --")
	case !resumed && before == 0:
		return cli.UsageError(errors.New("no TASK is given"), cli.SeeHelp(cmd))
	case !resumed && before > 1:
		return cli.UsageError(fmt.Errorf("unexpected argument %q", args[1]), "quote the task; the command stands after --")
	case cmd.ArgsLenAtDash() >= 0 && len(args) == before:
		return cli.UsageError(errors.New("no command is given after --"), cli.SeeHelp(cmd))
	case !resumed && cmd.Flags().Changed("resumable") && len(args) == before:
		return cli.UsageError(errors.New("--resumable needs a command that can be started again"), cli.SeeHelp(cmd))
	}
	return nil
}

// resumeAgent starts an agent that has exited again, as it was hired.
func resumeAgent(a *cli.App, cmd *cobra.Command, body brokerhttp.HireBody) error {
	var other string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "resume" && f.Name != "json" {
			other = f.Name
		}
	})
	if other != "" {
		return cli.UsageError(fmt.Errorf("--resume starts an agent as it was hired: --%s cannot be given anew", other), "hire another agent for that")
	}
	return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
		hired, err := c.Hire(ctx, brokerhttp.HireBody{Resume: body.Resume, Command: body.Command})
		if err != nil {
			return err
		}
		return brokerclient.Print(a, brokerclient.AsJSON(cmd), hired, func() {
			a.Out.Stdout.Printf("Resumed: %s\n", pathresolver.EscapePath(hired.Agent.ID))
		})
	})
}

// hireLaunch says how the command is started. Paths are the caller's; a home without a
// slash is a name, which the broker knows the place of.
func hireLaunch(body *brokerhttp.HireBody, l brokerhttp.LaunchBody, net string) (err error) {
	switch {
	case net != "" && net != "none" && net != "allow":
		return cli.UsageError(cli.UnknownWord("choice for --net", net, "none", "allow"), "the policy says whether there is a network: --net none takes it away, --net allow leaves the hosts of --allow-host")
	case net == "none" && len(body.AllowHost) > 0:
		return cli.UsageError(errors.New("--allow-host is for --net allow, and this is --net none"), "leave --net out")
	case len(body.AllowHost) > 0:
		net = "allow"
	}
	body.Net, l.NoNet = net, net == "none"
	for i := range l.RO {
		if l.RO[i], err = filepath.Abs(l.RO[i]); err != nil {
			return err
		}
	}
	if strings.Contains(l.Home, "/") {
		if l.Home, err = filepath.Abs(l.Home); err != nil {
			return err
		}
	}
	if !reflect.DeepEqual(l, brokerhttp.LaunchBody{}) {
		body.Launch = &l
	}
	return nil
}
