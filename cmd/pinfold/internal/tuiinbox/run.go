package tuiinbox

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// Broker is what the inbox needs of a broker's client, or of several.
type Broker interface {
	Requests(ctx context.Context) ([]broker.Request, error)
	Request(ctx context.Context, id string) (broker.Request, error)
	Proposal(ctx context.Context, id string) (brokerhttp.Proposal, error)
	// Agent is the agent that made a request.
	Agent(ctx context.Context, r broker.Request) (broker.Agent, error)
	Approve(ctx context.Context, id string, body brokerhttp.ApproveBody) (brokerhttp.Resolved, error)
	Deny(ctx context.Context, id string, body brokerhttp.DenyBody) (brokerhttp.Resolved, error)
	// Watch calls look when there may be something new, until ctx or the
	// connection ends.
	Watch(ctx context.Context, look func()) error
}

// Options are what Run needs; all fields but Pause do.
type Options struct {
	Broker Broker
	In     io.Reader // a terminal
	Out    io.Writer // likewise
	Env    []string  // TERM, NO_COLOR and their like

	// Pause is how long nothing may be typed before an approval, and how long a
	// request has to be on the screen; 0 is keyburst.Pause.
	Pause time.Duration
}

// watchAgain is how long after a stream that ended the next is tried.
const watchAgain = time.Second

// Run shows the inbox until its user leaves or ctx ends; only that is an error.
func Run(ctx context.Context, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(opt.In), tea.WithOutput(opt.Out), tea.WithEnvironment(opt.Env), tea.WithoutSignalHandler(),
	}
	if noColour(opt.Env) {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(newModel(ctx, opt.Broker, opt.Pause), options...)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			err := opt.Broker.Watch(ctx, func() { p.Send(changed{}) })
			p.Send(lost{err})
			select {
			case <-ctx.Done():
			case <-time.After(watchAgain):
			}
		}
	}()
	_, err := p.Run()
	cancel()
	<-watched
	return err
}

// noColour is the rule of https://no-color.org: set to anything.
func noColour(env []string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "NO_COLOR=") && e != "NO_COLOR=" })
}
