package policy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/gitbeside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

type whyFlags struct {
	policyflag.Flags
	op   string
	json bool
}

// NewWhy is the command why.
func NewWhy(a *cli.App) *cobra.Command {
	var f whyFlags
	cmd := &cobra.Command{
		Use:   "why [flags] PATH",
		Short: "Say whether an operation on a path would be allowed, and by which rule",
		Long: `why decides as 'pinfold run' would with the same flags, without doing anything,
and says which rule decided and what would be allowed. A relative PATH starts
at DIR. It exits with 0 when the operation is allowed, 1 when it is denied, and
2 when it was called wrongly.

Inside 'pinfold run' and without any policy flag it answers for that run, and
a relative PATH starts at the working directory. Where the policy refuses what was
granted, it names the grant beside that, and where it was denied, what the manager
said; where owner and mode of a file refuse what the policy allows, it says that, too.
The exit status is the policy's.`,
		Example: `  pinfold why -w src go.mod
  pinfold why -w src --op rename src/old.go`,
		Args: cli.OneArg("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error { return why(a, cmd, &f, args[0]) },
	}
	f.AddRoot(cmd)
	f.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.op, "op", "write", "the operation: `read|write|create|delete|rename|link|meta`")
	flags.BoolVar(&f.json, "json", false, "print the decision as JSON")
	_ = cmd.RegisterFlagCompletionFunc("op", cobra.FixedCompletions([]string{"read", "write", "create", "delete", "rename", "link", "meta"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func why(a *cli.App, cmd *cobra.Command, f *whyFlags, unsafePath string) error {
	op, err := access.ParseOp(f.op)
	if err != nil {
		return cli.UsageError(err, "")
	}
	asGiven := unsafePath
	given := policyflag.Given(cmd)
	if err := f.takeProject(cmd, a); err != nil {
		return err
	}
	cfg, err := f.Config(a.Stdin)
	if err != nil {
		return err
	}
	inRun := false
	var git *gitbeside.Dir
	defer func() { git.Close() }()
	if !given {
		inside, beside, ok, err := inside.Policy()
		if err != nil {
			return cli.UsageError(err, "name the policy by -C and -w")
		}
		if ok {
			cfg, inRun, git = inside, true, beside
			if unsafePath, err = fromHere(unsafePath, cfg.Root); err != nil {
				return cli.UsageError(err, "")
			}
		}
	}
	if cfg, err = hostfile.HidePrivate(cfg); err != nil {
		return err
	}
	if !inRun {
		if git, err = gitbeside.Find(&cfg, ""); err != nil {
			return err
		}
	}
	r, err := pathresolver.New(cfg)
	if err != nil {
		return whyInvalid(a, err)
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	d, besides := explainIn(r, git, op, unsafePath)
	d.Path = asGiven
	var grant *whyGrant
	denial := ""
	if inRun && d.Rule == pathresolver.RuleAsk {
		grant, denial = grantFor(cmd.Context(), op, d.Place)
	}
	system := ""
	if d.Allowed && !besides {
		system = systemRefuses(r.Root(), op, d.Place)
	}
	if f.json {
		err = cli.WriteJSON(a.Out.Stdout, whyAnswer{escapeDecision(d), grant, pathresolver.EscapePath(denial), pathresolver.EscapePath(system)})
	} else {
		whyText(a.Out, &d)
		if system != "" {
			a.Out.Stdout.Printf("  but %s\n", pathresolver.EscapePath(system))
		}
		if grant != nil {
			a.Out.Stdout.Printf("  %s\n", grant)
		}
		if denial != "" {
			a.Out.Stdout.Printf("  it was asked for, and denied: %s\n", pathresolver.EscapePath(denial))
		}
		if hint := hintFor(&f.Flags, &d); hint != "" && !besides {
			a.Out.Stdout.Printf("  hint: %s\n", pathresolver.EscapePath(hint))
		}
	}
	if err == nil && !d.Allowed {
		err = cli.Silent(cli.ExitFailed)
	}
	return err
}

// systemRefuses says that owner and mode of a file refuse what the rules allow to a
// command that this user runs; "" where they do not.
func systemRefuses(root string, op access.Op, place string) string {
	f, refused := hostpath.ModeRefuses(op, filepath.Join(root, place))
	if !refused {
		return ""
	}
	if place, err := filepath.Rel(root, f.Path); err == nil {
		f.Path = place
	}
	owner, known := hostpath.UserName(f.UID)
	text := fmt.Sprintf("the system refuses it: '%s' belongs to %s and has mode %04o", f.Path, owner, f.Mode.Perm())
	if os.Geteuid() != 0 || f.UID == 0 {
		return text
	}
	text += "; root inside has no right to what belongs to others"
	if known && !inside.Run() {
		text += ", and run --user " + owner + " has"
	}
	return text
}

// takeProject takes what the project's file says of a policy, as run does. Inside a run
// its policy stands.
func (f *whyFlags) takeProject(cmd *cobra.Command, a *cli.App) error {
	file, state := projectOf(a.Out, f.Root)
	if file == nil {
		return nil
	}
	_, left, err := f.TakeProject(cmd.Flags(), file.Project.Run, state == projectfile.Agreed)
	policyflag.WarnUntrusted(a.Out, file, f.Root, state, left)
	return err
}

// explainIn asks about a path beneath the project, or in the git directory that
// lies beside it, in which case besides is true.
func explainIn(r *pathresolver.Resolver, git *gitbeside.Dir, op access.Op, unsafePath string) (d resolved.Decision, besides bool) {
	at := unsafePath
	if !filepath.IsAbs(at) {
		at = filepath.Join(r.Root(), at)
	}
	if git.Holds(at) {
		return git.Explain(op, at), true
	}
	return resolved.Explain(r, op, unsafePath), false
}

// whyInvalid prints what is wrong with the policy: that is a wrong call, not
// an answer.
func whyInvalid(a *cli.App, err error) error {
	var invalid *pathresolver.ConfigError
	if !errors.As(err, &invalid) {
		return cli.UsageError(err, "")
	}
	a.Out.Violations(invalid.Violations)
	return cli.Silent(cli.ExitUsage)
}

// whyText prints the answer for a person: a refusal in the words that every
// surface uses, then what helps to understand it. All of it is escaped.
func whyText(o *cli.Output, d *resolved.Decision) {
	esc := pathresolver.EscapePath
	out := o.Stdout
	switch {
	case d.Allowed:
		out.Printf("%s: %s '%s'\n%s\n", out.Paint(cli.ColourGood, "allowed"), d.Op, esc(d.Path), d.Reason)
		if rule := pathresolver.OriginText(d.Origin); rule != "" {
			out.Printf("%s\n", rule)
		}
	case d.Rule == "": // no rule, but the system itself, stands in the way
		out.Printf("%s: %s '%s'\n%s\n", out.Paint(cli.ColourBad, "denied"), d.Op, esc(d.Path), d.Reason)
	default:
		denied := pathresolver.DeniedError{Op: d.Op, Path: d.Path, Place: d.Place, Rule: d.Rule, Reason: d.Reason, Origin: d.Origin, Allowed: d.Writable}
		if d.Op == access.OpRead {
			denied.Allowed = d.Readable
		}
		first, rest, _ := strings.Cut(denied.Error(), "\n")
		out.Printf("%s\n%s\n", out.Paint(cli.ColourBad, first), rest)
	}
	if d.Place != "" && d.Place != d.Path {
		out.Printf("  place: %s\n", esc(d.Place))
	}
	if d.Pattern != "" && !d.Allowed {
		out.Printf("  decided by: %s\n", esc(d.Pattern))
	}
	if d.Link != "" {
		out.Printf("  link: %s -> %s\n", esc(d.Link), esc(d.Target))
	}
}

// hintFor is what the person who starts the run can do about a refusal. It names no
// flag that the policy would refuse.
func hintFor(p *policyflag.Flags, d *resolved.Decision) string {
	if p.Held == nil && d.Origin != "" {
		return "" // inside a run with a policy, which no flag of that run widens
	}
	if d.Rule == pathresolver.RuleProtected && strings.Contains(d.Reason, "--unprotect") {
		return "" // it was said
	}
	if p.Held == nil {
		return ruleHint(d.Rule, d.Place)
	}
	if d.Rule != pathresolver.RuleNoWritePath {
		return "" // the policy's own rule was named
	}
	if list := p.ListHint(d.Place); list != "" {
		return list
	}
	return ruleHint(d.Rule, d.Place)
}

// ruleHint is the same where flags are all there is.
func ruleHint(rule access.Code, place string) string {
	switch rule {
	case pathresolver.RuleNoWritePath:
		if place == ".git" || strings.HasPrefix(place, ".git/") {
			return "--git makes the unprotected part of .git writable"
		}
		return "" // it was said
	case pathresolver.RuleProtected:
		return "protected by default or by --protect; --unprotect takes a default away"
	case pathresolver.RuleMasked:
		return "masked by --mask: programs in the view read it with stand-ins for its values"
	case pathresolver.RuleHidden:
		return "hidden by --hide: inside it does not exist, and the directory that holds it cannot be removed"
	case pathresolver.RuleHardLink:
		return "--hardlinks break copies the file first, --hardlinks allow changes all of its names"
	}
	return ""
}

// escapeDecision makes every text in d valid UTF-8 without control characters.
func escapeDecision(d resolved.Decision) resolved.Decision {
	for _, s := range []*string{&d.Path, &d.Place, &d.Pattern, &d.Origin, &d.Link, &d.Target} {
		*s = pathresolver.EscapePath(*s)
	}
	for i := range d.Writable {
		d.Writable[i] = pathresolver.EscapePath(d.Writable[i])
	}
	return d
}

// fromHere makes a path that starts at the working directory one that starts
// at root, or an absolute one. It is not cleaned: what ".." leads to is decided
// on the way.
func fromHere(unsafePath, root string) (string, error) {
	if unsafePath == "" || filepath.IsAbs(unsafePath) {
		return unsafePath, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	if here == root {
		return unsafePath, nil
	}
	return here + "/" + unsafePath, nil
}

// whyAnswer is the answer of why as JSON: the policy's, and beside it the grant
// that allows all the same.
type whyAnswer struct {
	resolved.Decision
	Grant *whyGrant `json:"grant,omitempty"`
	// Denial is what the agent was told when it was asked for and denied.
	Denial string `json:"denial,omitempty"`
	// System says that owner and mode refuse what the policy allows.
	System string `json:"system,omitempty"`
}

// whyGrant is a grant for what the policy wants asked for.
type whyGrant struct {
	ID    string       `json:"id"`
	Scope broker.Scope `json:"scope"`
	Until time.Time    `json:"until,omitzero"` // zero: as long as the agent
}

func (g *whyGrant) String() string {
	text := "the grant " + pathresolver.EscapePath(g.ID) + " allows it now: scope " + pathresolver.EscapePath(string(g.Scope))
	if !g.Until.IsZero() {
		text += ", until " + g.Until.Format(time.RFC3339)
	}
	return text
}

// whyWait is how long the broker has to answer.
const whyWait = 10 * time.Second

// grantFor asks the broker of the run that this process is in whether what has
// to be asked for was granted, and what was said if it was denied; nil and "" where
// it was neither, or the broker does not say: the policy's answer stands without it.
func grantFor(ctx context.Context, op access.Op, place string) (grant *whyGrant, denial string) {
	at, err := brokerhttp.FromEnvironment(os.Getenv)
	if err != nil {
		return nil, ""
	}
	c, err := brokerhttp.NewClient(at)
	if err != nil {
		return nil, ""
	}
	defer c.Close()
	ctx, stop := context.WithTimeout(ctx, whyWait)
	defer stop()
	d, err := c.Decide(ctx, brokerhttp.DecideBody{Action: op.Action(), Resource: place, Peek: true})
	id, granted := strings.CutPrefix(d.Rule, "grant:")
	if err != nil || !d.Allowed() || !granted {
		return nil, d.Denial
	}
	r, err := c.Request(ctx, id)
	if err != nil {
		return nil, ""
	}
	return &whyGrant{ID: r.ID, Scope: r.Scope, Until: r.Until}, ""
}
