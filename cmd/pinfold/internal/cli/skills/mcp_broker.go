package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/skillask"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// ownAgent is the agent that this process is at a broker.
type ownAgent struct {
	*brokerhttp.Client
	own brokerhttp.Own
}

// asAgent connects to the broker that the environment names; nil where it names none.
// The operator's broker, which serves by default, is not used here: this process is no
// agent of it.
func asAgent(ctx context.Context) (*ownAgent, error) {
	at, err := brokerhttp.FromEnvironment(os.Getenv)
	if errors.Is(err, brokerhttp.ErrNoBroker) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := brokerhttp.NewClient(at)
	if err != nil {
		return nil, err
	}
	own, err := c.Own(ctx)
	if err != nil {
		c.Close()
		return nil, &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("the broker that PINFOLD_SOCKET or PINFOLD_URL names: %w", err), Hint: "it must be an agent's; without these variables there is no broker"}
	}
	return &ownAgent{c, own}, nil
}

// worksAt refuses another directory than the agent's: the places of its policy
// are relative to that.
func (g *ownAgent) worksAt(dir string) error {
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return err
	}
	if real != g.own.Agent.Cwd {
		return cli.UsageError(fmt.Errorf("agent '%s' works in '%s', and not in '%s'", g.own.Agent.ID, pathresolver.EscapePath(g.own.Agent.Cwd), pathresolver.EscapePath(real)),
			"-C names the agent's directory where PINFOLD_SOCKET or PINFOLD_URL is set")
	}
	return nil
}

// hold makes the flags hold the agent's own policy, where they name none.
func (g *ownAgent) hold(f *policyflag.Flags, cfg pathresolver.Config) (pathresolver.Config, error) {
	held, err := g.own.Policy.Resolver(cfg.Root)
	if err != nil {
		return cfg, err
	}
	if held.NoView {
		return cfg, fmt.Errorf("policy '%s' of agent '%s' is the operator's own rights: there is nothing to hold", g.own.Policy.Name(), g.own.Agent.ID)
	}
	f.Held, f.At = g.own.Policy, held.Positions
	return held.Config, nil
}

// CallSkill has the broker make a call, outside the view.
func (g *ownAgent) callSkill(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error) {
	answer, err := g.CallSkill(ctx, name, input)
	if err != nil {
		return nil, skillask.AsSkillError(err)
	}
	return skillask.ResultFromWire(answer)
}
