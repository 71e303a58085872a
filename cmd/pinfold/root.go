package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/agents"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/approvals"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/cache"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/check"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/learn"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/leftlog"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/mount"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policy"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/project"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/run"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/runs"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/skills"
)

// Commands are listed as they are added: what is used most stands first.
func init() { cobra.EnableCommandSorting = false }

func newRoot(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "pinfold",
		Short: "Let a program read only beneath one directory and write only where you say",
		Long: `pinfold runs a program, such as an AI agent, so that it reads only beneath one
directory and writes only beneath the paths that were named. Without any write
path everything is read-only.`,
		Example: `  pinfold claude
  pinfold run --git --write-path src -- bash
  pinfold check --write-path src --format github
  pinfold why --write-path src go.mod`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cli.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.UsageError(err, cli.LikeFlag(cmd, err))
	})
	root.SetHelpCommand(newHelp())
	root.SetVersionTemplate("{{.Version}}\n")
	root.Version = cli.VersionText()
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageFunc(cli.Usage)
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title + ":"})
		for _, c := range commands {
			c.GroupID = id
		}
		root.AddCommand(commands...)
	}
	group("apps", "Start an agent", append(run.NewAgents(a), run.NewApps(a))...)
	group("sandbox", "Sandbox", run.New(a), runs.NewPs(a), runs.NewStop(a), runs.NewLogs(a), runs.NewExec(a), runs.NewAllow(a), runs.NewHide(a), project.NewInit(a), learn.New(a), project.NewTrust(a), leftlog.New(a), cache.New(a), mount.New(a), mount.NewUnmount(a), run.NewDoctor(a))
	group("policy", "Policy", check.New(a), policy.NewWhy(a), policy.New(a))
	group("approvals", "Approvals", approvals.NewRequests(a), approvals.NewApprove(a), approvals.NewDeny(a), approvals.NewGrants(a), approvals.NewRevoke(a))
	group("agents", "Agents", agents.NewServe(a), agents.NewHire(a), agents.NewFire(a), agents.NewInterrupt(a), agents.New(a),
		agents.NewStatus(a), agents.NewExplain(a), agents.NewWait(a), agents.NewTell(a), agents.NewMailbox(a), agents.NewAudit(a))
	group("integrations", "Integrations", skills.NewMCP(a), skills.NewHook(a), skills.New(a))
	root.AddCommand(
		cli.NewVersion(a), cli.NewCompletion(a), cli.NewMan(), run.NewHiredView(a), run.NewLearnedRun(a), learn.NewLayer(a), run.NewAnswers(a), mount.NewUnmounter(a),
		cli.OldName(approvals.NewRequest(a), "request"), cli.OldName(policy.NewExport(a), "flags"),
	)
	return root
}

// newHelp is cobra's, but for a topic that does not exist: that is an error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cli.UsageError(fmt.Errorf("no help about %q", strings.Join(args, " ")), cli.SeeHelp(cmd.Root()))
			}
			return about.Help()
		},
	}
}
