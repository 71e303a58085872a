package skills

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/agenttools"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/localnet"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

type mcpFlags struct {
	skillFlags
	structured string
	confirm    bool
	approve    string
	prompt     bool
	http       string
	tokenFile  string
	hosts      []string
	remote     bool
}

// NewMCP is the command mcp.
func NewMCP(a *cli.App) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp -C DIR [flags]",
		Short: "Offer file skills beneath DIR to an agent, as a server of the Model Context Protocol",
		Long: `mcp serves read_file, grep, edit_file and the other skills to the program that
started it, over standard input and output, or with --http to programs that
have the token. They read beneath DIR only and write beneath the write paths
only; without a write path no skill that writes is offered. It ends when
standard input does, or by a signal.

It confines its own skills, not the agent: a shell of the agent's goes where
the agent's user may. 'pinfold run' confines a program, and what it starts.

Where PINFOLD_SOCKET names a broker, it serves as that agent: beneath the agent's
own policy, unless flags name a narrower one; what has to be asked for waits for
the agent's manager; and nexus_send and its like are offered as far as the policy
permits them.

Inside a run it needs no flags: it holds the run's own rules, so that refusals say why.`,
		Example: `  pinfold mcp -C . -w src -w docs
  pinfold mcp -C ~/project --http 127.0.0.1:8901 --token-file ~/.config/pinfold/token
  claude mcp add files -- pinfold mcp -C . -w src`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveMCP(cmd, a, &f) },
	}
	f.addAll(cmd)
	flags := cmd.Flags()
	// A server never takes its own working directory as the root: the person who
	// starts it often does not know which one that is.
	flags.StringVarP(&f.Root, "directory", "C", "", "the directory `DIR` that bounds all access; must be given, but inside a run")
	flags.StringVar(&f.structured, "structured", "auto", "send structured content beside the text: `auto|always|never`; auto leaves it out for agents that would drop the text")
	flags.BoolVar(&f.confirm, "confirm", false, "ask the person in front of the agent before each write; refuse where the agent cannot ask")
	flags.StringVar(&f.approve, "approve", "broker", "who is asked for what the policy wants asked for: `broker|elicit|deny`; elicit is the person in front of the client, or else the broker")
	flags.BoolVar(&f.prompt, "permission-prompt", false, "offer the tool permission_prompt too, for Claude Code's --permission-prompt-tool")
	flags.StringVar(&f.http, "http", "", "listen on `ADDR:PORT` instead of using standard input and output")
	flags.StringVar(&f.tokenFile, "token-file", "", "the bearer token that clients of --http send, in `FILE`; made, with its directory, if it does not exist")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "a `NAME` that clients of --http may use for this machine, beside localhost (repeatable)")
	flags.BoolVar(&f.remote, "allow-remote", false, "let --http listen where other machines reach it; without TLS, so the token is sent in the clear")
	_ = cmd.MarkFlagDirname("directory")
	_ = cmd.MarkFlagFilename("token-file")
	_ = cmd.RegisterFlagCompletionFunc("approve", cobra.FixedCompletions(approvers, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("structured", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// approvers are the words that --approve takes.
var approvers = []string{"broker", "elicit", "deny"}

// structures are the words that --structured takes.
var structures = map[string]mcpserver.Structured{
	"auto":   mcpserver.StructuredAuto,
	"always": mcpserver.StructuredAlways,
	"never":  mcpserver.StructuredNever,
}

func serveMCP(cmd *cobra.Command, a *cli.App, f *mcpFlags) error {
	structured, ok := structures[f.structured]
	switch {
	case !ok:
		return cli.UsageError(cli.UnknownWord("choice for --structured", f.structured, "auto", "always", "never"), "")
	case !slices.Contains(approvers, f.approve):
		return cli.UsageError(cli.UnknownWord("choice for --approve", f.approve, approvers...), "")
	case !cmd.Flags().Changed("directory") && !inside.Run():
		return cli.UsageError(errors.New("no directory is given"), "name it by -C DIR: a server does not take its own working directory for one")
	case f.http == "" && (f.tokenFile != "" || f.remote || len(f.hosts) > 0):
		return cli.UsageError(errors.New("--token-file, --allow-host and --allow-remote are for --http"), cli.SeeHelp(cmd))
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A client that closed its end is an error of Write, not our death.
	signal.Ignore(syscall.SIGPIPE)

	if f.confirm {
		f.narrow = mcpserver.Confirm
	}
	agent, err := asAgent(ctx)
	if err != nil {
		return err
	}
	if agent != nil {
		defer agent.Close()
		if f.Root == "" {
			f.Root = agent.own.Agent.Cwd
		}
		if err := agent.worksAt(f.Root); err != nil {
			return err
		}
		a.Out.Stderr.Printf("pinfold: serving agent '%s'\n", agent.own.Agent.ID)
	}
	f.agent, f.person, f.nobody = agent, f.approve == "elicit", f.approve == "deny"
	set, r, err := f.set(nil, a.Out) // standard input is the client's
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	hostfile.Remember(a.Out, "", r)
	f.TellPolicy(a.Out)
	collectLess()
	srv := mcpserver.New(set, mcpserver.Options{
		Version:      cli.BuildVersion(),
		Instructions: instructions(r) + f.askInstructions(),
		Structured:   structured,
		Call:         f.call,
		Tools:        f.tools(r),
	})
	if f.http != "" {
		return serveHTTP(ctx, a.Out, f, r, srv)
	}
	f.giveUp(r, a.Out)
	return srv.ServeStdio(ctx, a.Stdin, a.Out.Stdout)
}

// giveUp confines this process, once it has read what it needs of the rest of the
// host. With a broker it goes on to look for that, and the permission prompt looks
// at whatever a shell's command names.
func (f *mcpFlags) giveUp(r *pathresolver.Resolver, o *cli.Output) {
	if f.agent != nil || f.prompt {
		return
	}
	if err := confineServer(r, f.journals); err != nil {
		o.Warning("this server keeps its rights to what lies outside of the directory: " + pathresolver.EscapePath(err.Error()))
	}
}

// collectLess trades 16 MiB for time: a server that holds next to nothing is
// otherwise made to collect its garbage every few dozen calls, which was a
// quarter of the time of a small one. GOGC in the environment says otherwise.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// instructedPaths is how many write paths a model is told at the start.
const instructedPaths = 20

// instructions tell a model what it would otherwise find out by refusals.
func instructions(r *pathresolver.Resolver) string {
	const where = "Paths are relative to the one directory that these tools see. "
	paths := r.WritePaths()
	if len(paths) == 0 {
		return where + "Nothing can be written."
	}
	if slices.Contains(paths, ".") { // "Writable: .." would be another directory
		return where + "Everything beneath it that is neither hidden nor protected can be written."
	}
	shown := make([]string, 0, instructedPaths)
	for _, p := range paths[:min(len(paths), instructedPaths)] {
		shown = append(shown, pathresolver.EscapePath(p))
	}
	text := where + "Writable: " + strings.Join(shown, ", ")
	if more := len(paths) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "."
}

// serveHTTP listens until ctx ends.
func serveHTTP(ctx context.Context, o *cli.Output, f *mcpFlags, r *pathresolver.Resolver, srv *mcpserver.Server) error {
	if f.tokenFile == "" {
		return cli.UsageError(errors.New("--http needs --token-file"), "it is made if it does not exist")
	}
	l, err := localnet.Listen(ctx, f.http, f.remote)
	if err != nil {
		return err
	}
	token, made, err := bearerToken(f.tokenFile, r)
	if err != nil {
		_ = l.Close() // nobody was served
		return err
	}
	if f.remote {
		o.Warning("whoever reaches " + l.Addr().String() + " and knows the token uses these skills, and nothing on the way is encrypted")
	}
	if made {
		o.Stderr.Printf("pinfold: made a token: %s\n", pathresolver.EscapePath(f.tokenFile))
	}
	o.Stderr.Printf("pinfold: serving http://%s%s\n", l.Addr(), mcpserver.Endpoint)
	f.giveUp(r, o)
	return srv.Serve(ctx, l, mcpserver.HTTPOptions{Token: token, Hosts: f.hosts})
}

// tools are those beside the skills.
func (f *mcpFlags) tools(r *pathresolver.Resolver) []mcpserver.Tool {
	var tools []mcpserver.Tool
	if f.agent != nil {
		tools = agenttools.Tools(f.agent.Client, f.agent.own)
	}
	if f.prompt {
		tools = append(tools, f.promptTool(r))
	}
	return tools
}

// askInstructions tell a model what it may ask for, and that it has to wait.
func (f *mcpFlags) askInstructions() string {
	if f.nobody || !f.person && f.agent == nil || len(f.cfg.AskWrite) == 0 {
		return ""
	}
	shown := make([]string, 0, instructedPaths)
	for _, glob := range f.cfg.AskWrite[:min(len(f.cfg.AskWrite), instructedPaths)] {
		shown = append(shown, pathresolver.EscapePath(glob))
	}
	return " Writing " + strings.Join(shown, ", ") + " is asked for first: the call waits for the answer."
}
