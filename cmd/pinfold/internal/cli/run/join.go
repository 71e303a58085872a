package run

import (
	"context"
	"errors"
	"net"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/viewhost"
	"github.com/pinfold-dev/pinfold/permission"
)

// maxWaits is how many opens of a joined run wait at a time: each holds a
// connection, and the broker bounds those of one agent.
const maxWaits = 40

// joined is a run whose command is an agent of another process's broker, hired
// by whom PINFOLD_SOCKET stands for. The broker meets one peer, this process;
// the command speaks through a relay, which holds that it is in this run's view.
type joined struct {
	agent broker.Agent
	own   *brokerhttp.Client // as the agent
	relay *brokerhttp.Relay
	at    found
}

var _ reached = (*joined)(nil)

// join hires the command where PINFOLD_SOCKET leads.
func (o *asked) join(ctx context.Context, a *cli.App) (*joined, error) {
	manager, err := brokerclient.Find(ctx)
	if err != nil {
		return nil, err
	}
	defer manager.Close()
	hired, err := manager.Hire(ctx, *o.Join)
	if err != nil {
		return nil, brokerclient.Error(ctx, a, err)
	}
	j := &joined{agent: hired.Agent}
	if j.own, err = brokerhttp.NewClient(brokerhttp.Endpoint{Socket: hired.Socket}); err != nil {
		return nil, err
	}
	// The first whom the broker meets as this agent is this process.
	policy, err := j.meet(ctx)
	if err == nil {
		err = j.relayTo(ctx, o.Shown, hired.Socket)
	}
	if err != nil {
		return nil, errors.Join(err, j.end(broker.Exit{Code: cli.ExitRunOwn, Output: err.Error()}))
	}
	j.at = found{Agent: j.agent.ID, Socket: brokerhttp.RelaySocket(hired.Socket), Wait: viewhost.FUSEWait(policy), Waits: maxWaits}
	return j, nil
}

func (j *joined) found() found { return j.at }

func (j *joined) serve(conn net.Conn) { j.own.Forward(conn) }

// stopped waits for nothing: the broker's own process stops what was hired there.
func (j *joined) stopped() {}

// meet returns the policy that the agent was hired with, within its manager's.
func (j *joined) meet(ctx context.Context) (*permission.Policy, error) {
	own, err := j.own.Own(ctx)
	if err != nil {
		return nil, err
	}
	return own.Policy, nil
}

// relayTo makes the socket that the command gets, beside the agent's own.
func (j *joined) relayTo(ctx context.Context, shown []string, socket string) (err error) {
	if err := outsideAll(filepath.Dir(filepath.Dir(socket)), shown); err != nil {
		return err
	}
	j.relay, err = brokerhttp.NewRelay(ctx, brokerhttp.RelaySocket(socket), j.agent.ID, socket, nil)
	return err
}

// end says how the command has ended, and lets go of everything. A broker that
// is away by then finds this process gone when it is back.
func (j *joined) end(exit broker.Exit) error {
	ctx, cancel := context.WithTimeout(context.Background(), brokerhost.TellPatience)
	defer cancel()
	_, err := j.own.Exit(ctx, j.agent.ID, exit)
	var refused *broker.Error
	if errors.As(err, &refused) || errors.As(err, new(*brokerhttp.UnreachableError)) {
		err = nil // it was fired, or its broker has ended
	}
	if j.relay != nil {
		err = errors.Join(err, j.relay.Close())
	}
	j.own.Close()
	return err
}
