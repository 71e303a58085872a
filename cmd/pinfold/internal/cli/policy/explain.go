package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/internal/egress"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

func newPolicyExplain(a *cli.App) *cobra.Command {
	var from policyflag.From
	var principal, parent, tool string
	cmd := &cobra.Command{
		Use:   "explain [flags] ACTION RESOURCE",
		Short: "Say what a policy decides about a request, and what each of its layers says",
		Long: `explain asks a policy, does nothing, and exits with 0 when the request is
allowed and 1 when it is not. RESOURCE is a path beneath the project, an agent's
id or session key, or a tool; of the ACTION connect it is HOST[:PORT]. What links a path leads through it does not look
at: 'pinfold why' does. Where no policy is named it is that of the preset that the
trusted .pinfold.yaml of the working directory names.`,
		Example: "  pinfold policy explain --policy p.yaml fs.write src/main.go\n  pinfold policy explain --preset sandboxed --as me --parent boss --tool nexus_send msg.send boss",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.UsageError(errors.New("explain takes an ACTION and a RESOURCE"), cli.SeeHelp(cmd))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			connects := args[0] == actionConnect
			if err := knownAction(args[0]); err != nil && !connects {
				return err
			}
			if _, err := egress.ParseRule(args[1]); connects && err != nil {
				return cli.UsageError(err, "HOST or HOST:PORT, such as example.com:443")
			}
			given, err := from.Given()
			if err != nil {
				return err
			}
			var p *permission.Policy
			if given {
				if p, _, err = from.Load(".", nil); err != nil {
					return cli.UsageError(err, "")
				}
			} else if p, err = ofProject(a.Out, ".", nil, "name one by --policy, --preset or --agent"); err != nil {
				return err
			}
			if connects {
				return explainConnect(a.Out, p.Network(), args[1])
			}
			r := access.Request{Principal: principal, Action: access.Action(args[0]), Resource: args[1], Tool: tool}
			d, steps := behind(p).Explain(oneParent{principal, parent}, r)
			explainText(a.Out, &d, steps)
			if !d.Allowed() {
				return cli.Silent(cli.ExitFailed)
			}
			return nil
		},
	}
	from.Add(cmd)
	cmd.Flags().StringVar(&principal, "as", "agent", "the `ID` of the agent that asks")
	cmd.Flags().StringVar(&parent, "parent", "", "the `ID` of its parent")
	cmd.Flags().StringVar(&tool, "tool", "", "the `NAME` of the tool through which it asks")
	return cmd
}

// actionConnect is what explain calls a connection. Only runs make them, so that it is no
// action of package access.
const actionConnect = "connect"

// explainConnect says whether a run with this network reaches a host, and by which rule.
func explainConnect(o *cli.Output, net permission.Reach, host string) error {
	effect, colour := access.Deny, cli.ColourBad
	if net.Allows(host) {
		effect, colour = access.Allow, cli.ColourGood
	}
	o.Stdout.Printf("%s: %s '%s'\n", o.Stdout.Paint(colour, string(effect)), actionConnect, pathresolver.EscapePath(host))
	rule, at := net.Behind(host)
	if rule == "" {
		o.Stdout.Printf("  no document of the policy grants the network\n")
	} else {
		o.Stdout.Printf("  network %s by %s (%s)\n", net.Mode, pathresolver.EscapePath(rule), pathresolver.EscapePath(at.String()))
	}
	if len(net.Hosts) > 0 {
		o.Stdout.Printf("  it reaches: %s\n", strings.Join(net.Hosts, " "))
	}
	if effect != access.Allow {
		return cli.Silent(cli.ExitFailed)
	}
	return nil
}

// knownAction refuses a word that is no action.
func knownAction(word string) error {
	var words []string
	for _, a := range access.Actions() {
		words = append(words, string(a))
	}
	if slices.Contains(words, word) {
		return nil
	}
	hint := ""
	if like := didyoumean.Word(word, words); like != "" {
		hint = "did you mean '" + like + "'?"
	}
	return cli.UsageError(cli.UnknownWord("action", word, words...), hint)
}

// oneParent knows one agent's parent.
type oneParent struct{ id, parent string }

func (o oneParent) Parent(id string) string {
	if id == o.id {
		return o.parent
	}
	return ""
}

func explainText(o *cli.Output, d *access.Decision, steps []policies.Step) {
	esc := pathresolver.EscapePath
	colour := cli.ColourBad
	if d.Allowed() {
		colour = cli.ColourGood
	}
	o.Stdout.Printf("%s: %s '%s'\n", o.Stdout.Paint(colour, string(d.Effect)), d.Action, esc(d.Resource))
	for line := range strings.Lines(d.Reason()) {
		o.Stdout.Printf("  %s\n", esc(strings.TrimRight(line, "\n")))
	}
	for _, s := range steps {
		says, where := string(s.Effect), ""
		if says == "" {
			says = "says nothing"
		}
		if s.Rule != "" {
			where = fmt.Sprintf(" by %s (%s)", s.Rule, s.Source)
		}
		layer := s.Layer
		if layer == "" {
			layer = "no layer speaks"
		}
		o.Stdout.Printf("  %-10s %s: %s%s\n", s.Stage, esc(layer), says, esc(where))
	}
}
