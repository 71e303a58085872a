package approver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/webinbox"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Mode is what --approve says: who answers for the run's operator. The zero one
// answers nobody: the operator does, elsewhere. Parse makes one; its fields are for
// handing it to another process.
type Mode struct {
	Kind    string // "", tty, web, deny, exec
	Command string // of exec
	Path    string // PATH of exec's command; see safeSearch
}

// AtTerminal reports whether the command's own terminal asks: then its supervisor does,
// which can take the terminal from it.
func (m Mode) AtTerminal() bool { return m.Kind == "tty" }

// Parse reads what --approve says, for a run whose view r decides about and whose
// command has home as its own, if any. A command that the agent could change must
// not answer: it is refused.
func Parse(text string, r *pathresolver.Resolver, home string) (Mode, error) {
	kind, command, _ := strings.Cut(text, ":")
	switch {
	case kind == "exec" && command != "":
		m := Mode{Kind: kind, Command: command}
		if err := m.refuseReachable(r); err != nil {
			return Mode{}, err
		}
		return m, m.safeSearch(r, home)
	case kind == "exec":
		return Mode{}, cli.UsageError(errors.New("--approve exec: the command is missing"), "--approve 'exec:/usr/local/bin/may-it'")
	case slices.Contains([]string{"", "tty", "web", "deny"}, text):
		return Mode{Kind: text}, nil
	}
	return Mode{}, cli.UsageError(cli.UnknownWord("way to approve", text, "tty", "web", "deny", "exec:CMD"), "")
}

// Run is the run whose agent's requests are answered.
type Run struct {
	Broker    *broker.Broker
	Dir       string          // the broker's
	Temporary bool            // Dir is not where the operator's commands look
	Pause     *launcher.Pause // of the command, while its terminal asks
	Propose   func(context.Context, broker.Identity, string) (brokerhttp.Proposal, error)
}

// Start begins to answer, until Close or until ctx is done. nil is returned where
// nobody is to answer here; quiet does not even say who may.
func (m Mode) Start(ctx context.Context, run Run, a *cli.App, quiet bool) (*Answering, error) {
	switch m.Kind {
	case "deny":
		return start(ctx, run.Broker, a.Out, 1, denyAll), nil
	case "tty":
		t, err := openTerminal()
		if err != nil {
			return nil, &cli.ExitError{Code: cli.ExitRunOwn, Err: fmt.Errorf("--approve tty: there is no controlling terminal: %w", err), Hint: "--approve web shows a page instead"}
		}
		w := start(ctx, run.Broker, a.Out, 1, (&ttyAnswers{t, run.Pause, run.Propose}).answer)
		w.ended = t.Close
		return w, nil
	case "web":
		page, _, err := brokerhost.ShowPage(ctx, a, "", webinbox.Options{Broker: run.Broker, Dir: run.Dir, Propose: run.Propose}) // one that breaks says so in the browser
		if err != nil {
			return nil, err
		}
		return &Answering{ended: page.Close}, nil
	case "exec":
		return start(ctx, run.Broker, a.Out, maxExecs, execAnswers{m.Command, m.Path, run.Propose}.answer), nil
	}
	switch {
	case quiet || !a.Out.Stderr.Terminal:
	case run.Temporary:
		a.Out.Hint("what has to be asked for waits for you: 'pinfold requests' in another terminal shows it where PINFOLD_SOCKET=" + brokerhttp.OperatorSocket(run.Dir) + " is set")
	default:
		a.Out.Hint("what has to be asked for waits for you: 'pinfold requests' in another terminal shows it, 'pinfold approve ID' allows it")
	}
	return nil, nil
}

// decision is an answer to a request; the zero one leaves it to somebody else.
type decision struct {
	effect access.Effect // Allow or Deny
	answer broker.Answer // of Allow
	reason string        // of Deny
}

// denyAll is --approve deny.
func denyAll(context.Context, broker.Request) decision {
	return decision{effect: access.Deny, reason: "Denied: nobody is there to be asked (--approve deny)"}
}
