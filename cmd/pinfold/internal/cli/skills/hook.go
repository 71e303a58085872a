package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/claudecode"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewHook is the command hook.
func NewHook(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook claude",
		Short: "Decide about the tools of an agent's own program, as its hook",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageError(errors.New("no program is given: want claude"), cli.SeeHelp(cmd))
		},
	}
	cmd.AddCommand(newHookClaude(a))
	return cmd
}

// exitBlock makes Claude Code refuse the call, and show its model what stands
// on standard error. Any other error than this would let the call go on.
const exitBlock = cli.ExitUsage

// hookWait is less than the 60 s after which some versions of Claude Code give up on a
// hook and go on as if there were none.
const hookWait = 50 * time.Second

// hookFiles say which hooks run: a call that changes them could end this one.
var hookFiles = []string{".claude/settings.json", ".claude/settings.local.json", ".mcp.json"}

type hookFlags struct {
	skillFlags
	wait time.Duration
}

func newHookClaude(a *cli.App) *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use:   "claude -C DIR [flags]",
		Short: "Decide about a call of one of Claude Code's own tools, as its PreToolUse hook",
		Long: `claude reads what Claude Code tells a hook on standard input, and answers allow,
deny or ask by the policy: of Read, Write, Edit, MultiEdit, NotebookEdit, Glob and
Grep by the path, of Bash by the tool and the command, of all others by the tool.
A command is allowed only if all of it is known, the policy lists it, and the
rules allow each path in it. Where PINFOLD_SOCKET names
a broker the policy is the agent's own, and what has to be asked for waits for its
manager. Whatever is not understood is refused.

After a call that failed, as a PostToolUseFailure hook, it only says which rule
refused it. Inside a run it needs no flags for that.

It is advice that a command of Bash can get round: 'pinfold run' is the boundary.`,
		Example: `  pinfold hook claude -C "$CLAUDE_PROJECT_DIR" --policy policy.yaml`,
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			err := hookClaude(ctx, a, &f)
			if err != nil && cli.CodeOf(err) != exitBlock {
				err = &cli.ExitError{Code: exitBlock, Err: err}
			}
			return err
		},
	}
	f.Add(cmd)
	cmd.Flags().StringVarP(&f.Root, "directory", "C", "", "the project `DIR`, absolute; must be given, but for a broker's agent")
	cmd.Flags().DurationVar(&f.wait, "wait", hookWait, "how long to wait for the manager's answer: less than the hook's own timeout, after which the call would go on")
	_ = cmd.MarkFlagDirname("directory")
	return cmd
}

func hookClaude(ctx context.Context, a *cli.App, f *hookFlags) error {
	in, err := claudecode.ReadHook(a.Stdin)
	if err != nil {
		return err
	}
	// The broker that does not answer is waited for no longer than the manager.
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	failed := in.Event == claudecode.PostToolUseFailure // why is told, and nobody asked
	if !failed {
		if f.agent, err = asAgent(ctx); err != nil {
			return err
		}
	}
	if f.agent != nil {
		defer f.agent.Close()
	}
	if !failed || !f.ofRun() {
		if err := f.place(); err != nil {
			return err
		}
	}
	f.guard, f.also = "off", hookFiles
	_, r, err := f.set(nil, cli.NewOutput(io.Discard, io.Discard))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	if failed {
		if why := f.claudeJudge(r).why(in.Tool, in.Input, in.Cwd); why != "" {
			return cli.WriteJSON(a.Out.Stdout, claudecode.FailureOutput(why))
		}
		return nil
	}
	b, reason, err := f.claudeJudge(r).answer(ctx, in.Tool, in.Input, in.Cwd)
	if err != nil {
		return fmt.Errorf("the call is refused, since it is not understood: %w", err)
	}
	if out := claudecode.HookOutput(in.Event, b, reason); out != nil {
		return cli.WriteJSON(a.Out.Stdout, out)
	}
	return nil
}

// place makes the project the working directory, so that a policy's name leads to
// the same file wherever the agent has gone.
func (f *hookFlags) place() error {
	switch {
	case f.Root == "" && f.agent != nil:
		f.Root = f.agent.own.Agent.Cwd
	case !filepath.IsAbs(f.Root):
		return cli.UsageError(errors.New("no absolute directory is given"), `-C "$CLAUDE_PROJECT_DIR" names the project; the working directory is the agent's to change`)
	case f.agent != nil:
		if err := f.agent.worksAt(f.Root); err != nil {
			return err
		}
	}
	return os.Chdir(f.Root)
}

// promptTool is the tool for Claude Code's --permission-prompt-tool, which calls it
// where it would ask its user. It can ask no person, so what a person would have to
// decide is refused.
func (f *mcpFlags) promptTool(r *pathresolver.Resolver) mcpserver.Tool {
	j := f.claudeJudge(r)
	return mcpserver.Tool{
		Name:        "permission_prompt",
		Description: "For the program itself, not for a model: says whether one of its tools may be called.",
		InputSchema: json.RawMessage(claudecode.PromptSchema),
		ReadOnly:    true,
		Call: func(ctx context.Context, input json.RawMessage) (string, error) {
			in, err := claudecode.ReadPrompt(input)
			if err != nil {
				return "", &fileskills.Error{Code: fileskills.CodeInvalidArgument, Message: err.Error()}
			}
			b, reason, err := j.answer(ctx, in.Tool, in.Input, "")
			if err != nil {
				reason = err.Error()
			}
			return claudecode.PromptAnswer(in, b == claudecode.Allow && err == nil, orElse(reason, "no policy speaks of this tool"))
		},
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// claudeJudge decides by what the flags, or the agent's own policy, say. set was
// called before.
func (f *skillFlags) claudeJudge(r *pathresolver.Resolver) *claudeJudge {
	return &claudeJudge{callJudge: f.by, held: f.Held, cfg: f.cfg, resolver: r, view: inside.Run()}
}
