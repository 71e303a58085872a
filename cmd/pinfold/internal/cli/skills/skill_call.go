package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/skillask"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// skillInput is the most that a call reads from standard input, in bytes.
const skillInput = 32 << 20

func newSkillCall(a *cli.App) *cobra.Command {
	var f skillFlags
	var asJSON, byBroker bool
	cmd := &cobra.Command{
		Use:   "call NAME [JSON|-] [flags]",
		Short: "Call a skill and print what it answers",
		Long: `call runs one skill with the arguments in JSON, or with those on standard input
where it says '-'. It exits with 0 when the skill did what it should, 1 when it
refused or failed, and 2 when it was called wrongly.`,
		Example: `  pinfold skills call grep '{"pattern":"TODO"}'
  pinfold skills call write_file '{"path":"out/a.txt","content":"hello"}' -w out --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 2 {
				return cli.UsageError(fmt.Errorf("unexpected argument %q", args[2]), cli.SeeHelp(cmd))
			}
			return cli.OneArg("NAME")(cmd, args[:min(len(args), 1)])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if byBroker {
				return skillByBroker(cmd, a, asJSON, args)
			}
			return skillCall(cmd.Context(), a, &f, asJSON, args)
		},
	}
	f.AddRoot(cmd)
	f.addAll(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer, or why there is none, as JSON")
	cmd.Flags().BoolVar(&byBroker, "broker", false, "let the broker call it, beneath the policy of the agent that you are; a write that must be asked for waits for your manager")
	cmd.ValidArgsFunction = completeSkill(&f)
	return cmd
}

// skillByBroker has the broker call the skill, as the agent whose socket or
// token this process has.
func skillByBroker(cmd *cobra.Command, a *cli.App, asJSON bool, args []string) error {
	if policyflag.Given(cmd) {
		return cli.UsageError(errors.New("with --broker the policy is the agent's own"), cli.SeeHelp(cmd))
	}
	input, err := argumentsOf(args[1:], a.Stdin)
	if err != nil {
		return cli.UsageError(err, "")
	}
	if !json.Valid(input) {
		return cli.UsageError(errors.New("the arguments are not JSON"), "")
	}
	return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
		answer, err := c.CallSkill(ctx, args[0], input)
		if err != nil {
			return err
		}
		res, err := skillask.ResultFromWire(answer)
		if err != nil {
			return err
		}
		if asJSON {
			return printOutcome(a.Out, res, nil)
		}
		printResult(a.Out, res)
		return nil
	})
}

func skillCall(ctx context.Context, a *cli.App, f *skillFlags, asJSON bool, args []string) error {
	// A call that is interrupted ends with nothing half done.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	input, err := argumentsOf(args[1:], a.Stdin)
	if err != nil {
		return cli.UsageError(err, "")
	}
	set, r, err := f.set(nil, a.Out) // standard input may hold the arguments
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	res, err := set.Call(ctx, args[0], input)
	var e *fileskills.Error
	if errors.As(err, &e) && e.Code == fileskills.CodeUnknownSkill && fileskills.Canonical(args[0]) != "" && e.Hint == "" {
		e.Hint = "--enable " + fileskills.Canonical(args[0]) + " offers it"
	}
	if asJSON {
		return printOutcome(a.Out, res, err)
	}
	switch {
	case e != nil:
		return &cli.ExitError{Code: refusalCode(e), Err: errors.New(e.Message), Hint: e.Hint}
	case err != nil:
		return err
	}
	printResult(a.Out, res)
	return nil
}

// printResult prints what a skill says.
func printResult(o *cli.Output, res *fileskills.Result) {
	o.Stdout.Printf("%s", showable(&o.Stdout, res.Text))
	for _, p := range res.Parts {
		o.Stdout.Printf("[%s, %d bytes: --json shows them]\n", p.MIMEType, len(p.Data))
	}
}

// showable is a skill's text with a newline at its end. On a terminal what
// could move the cursor is escaped; elsewhere it is as the skill said.
func showable(s *cli.Stream, text string) string {
	if len(text) == 0 {
		return ""
	}
	if s.Terminal {
		text = escapeText(text)
	}
	return strings.TrimSuffix(text, "\n") + "\n"
}

// escapeText escapes all control characters but newlines and tabs.
func escapeText(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(text, "\n\t")
		if i < 0 {
			break
		}
		b.WriteString(pathresolver.EscapePath(text[:i]) + text[i:i+1])
		text = text[i+1:]
	}
	return b.String() + pathresolver.EscapePath(text)
}

// skillOutcome is what `skill call --json` prints.
type skillOutcome struct {
	Text  *string           `json:"text,omitempty"`
	Meta  *fileskills.Meta  `json:"meta,omitempty"`
	Parts []skillPart       `json:"parts,omitempty"`
	Error *fileskills.Error `json:"error,omitempty"`
}

type skillPart struct {
	MIMEType string `json:"mime_type"`
	Data     []byte `json:"data"`
}

// printOutcome prints an answer for a program.
func printOutcome(o *cli.Output, res *fileskills.Result, err error) error {
	var e *fileskills.Error
	switch {
	case errors.As(err, &e):
		return errors.Join(cli.WriteJSON(o.Stdout, skillOutcome{Error: e}), cli.Silent(refusalCode(e)))
	case err != nil:
		return err
	}
	answer := skillOutcome{Text: &res.Text, Meta: &res.Meta}
	for _, p := range res.Parts {
		answer.Parts = append(answer.Parts, skillPart(p))
	}
	return cli.WriteJSON(o.Stdout, answer)
}

// refusalCode is the exit code for what a skill refused: a skill that is not
// there was called wrongly.
func refusalCode(e *fileskills.Error) int {
	if e.Code == fileskills.CodeUnknownSkill {
		return cli.ExitUsage
	}
	return cli.ExitFailed
}

// argumentsOf is the JSON that was given: as an argument, or by "-" on stdin.
// None is an empty object.
func argumentsOf(args []string, stdin io.Reader) (json.RawMessage, error) {
	switch {
	case len(args) == 0:
		return json.RawMessage("{}"), nil
	case args[0] != "-":
		return json.RawMessage(args[0]), nil
	}
	data, err := io.ReadAll(io.LimitReader(stdin, skillInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("standard input: %w", err)
	case len(data) > skillInput:
		return nil, fmt.Errorf("standard input: more than %d bytes", skillInput)
	}
	return data, nil
}
