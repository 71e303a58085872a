package brokerhttp

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/pinfold-dev/pinfold/broker"
)

// resume starts an agent that has exited again, for one of its managers.
func (c *call) resume(ctx context.Context, body *HireBody) (any, error) {
	if !reflect.DeepEqual(*body, HireBody{Resume: body.Resume, Command: body.Command}) {
		return nil, fault(broker.CodeInvalid, "an agent is started again as it was hired: only its command may be given")
	}
	agent, err := c.s.b.Resume(ctx, c.who, body.Resume)
	if err != nil {
		return nil, err
	}
	command := body.Command
	if len(command) > 0 && agent.Launch != "" && c.s.opt.Plan != nil {
		// Another command gets what the first one got: as much as whoever names it may give.
		again := HireBody{ID: agent.ID, Command: command, Launch: &LaunchBody{}}
		if err := json.Unmarshal([]byte(agent.Launch), again.Launch); err != nil {
			return nil, err
		}
		if _, err := c.s.opt.Plan(c.who, &again); err != nil {
			return nil, asRefusal(err)
		}
	}
	if len(command) == 0 {
		command = agent.Resume
	}
	if len(command) == 0 {
		return nil, fault(broker.CodeInvalid, "agent '%s' was not hired as resumable: give the command that starts it again", agent.ID)
	}
	ctx = context.WithoutCancel(ctx) // as for a new one
	if err := c.s.Resume(ctx, agent, command); err != nil {
		return nil, asRefusal(err)
	}
	if agent, err = c.s.b.Agent(ctx, broker.OperatorIdentity(), agent.ID); err != nil {
		return nil, err
	}
	return c.s.hired(agent), nil
}

// Resume gives an agent that has exited its socket back and starts a command as
// it. Of several who try one does; the others' error has broker.CodeExists.
// Whether it may be is the caller's to know.
func (s *Server) Resume(ctx context.Context, agent broker.Agent, command []string) error {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	err := s.admit(ctx, agent.ID, true)
	if err == nil {
		err = s.launch(ctx, agent, command)
	}
	var refused *broker.Error
	if err != nil && (!errors.As(err, &refused) || refused.Code != broker.CodeExists) { // which runs
		err = errors.Join(err, s.b.Exited(ctx, agent.ID, broker.Exit{Code: exitNoStart, Output: err.Error()}))
	}
	if err != nil {
		if now, e := s.b.Agent(ctx, broker.OperatorIdentity(), agent.ID); e == nil && now.State.Ended() {
			s.Dismiss(agent.ID)
		}
	}
	return err
}
