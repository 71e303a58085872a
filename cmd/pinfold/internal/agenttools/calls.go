package agenttools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// arguments reads a call's arguments strictly.
func arguments(input json.RawMessage, v any) error {
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one value")
		}
	}
	if err != nil {
		return &fileskills.Error{Code: fileskills.CodeInvalidArgument, Message: "the arguments are not what is wanted: " + strings.TrimPrefix(err.Error(), "json: ")}
	}
	return nil
}

// creation is what nexus_create takes. Parent is there to be refused: the broker does
// so in its own words, and records it.
type creation struct {
	Task       string   `json:"task"`
	AgentID    string   `json:"agent_id"`
	Preset     string   `json:"preset"`
	Policy     string   `json:"policy"`
	Cwd        string   `json:"cwd"`
	WritePaths []string `json:"allowed_write_paths"`
	Command    []string `json:"command"`
	Model      string   `json:"model"`
	Tools      []string `json:"tools"`
	Parent     string   `json:"parent_id"`
}

func create(ctx context.Context, c *brokerhttp.Client, input json.RawMessage) (string, error) {
	var in creation
	if err := arguments(input, &in); err != nil {
		return "", err
	}
	body := brokerhttp.HireBody{
		ID: in.AgentID, Parent: in.Parent, Preset: in.Preset, Cwd: in.Cwd, WritePaths: in.WritePaths,
		Model: in.Model, Tools: in.Tools, Task: in.Task, Command: in.Command,
	}
	if in.Policy != "" {
		body.Policy = &brokerhttp.Text{Name: "nexus_create", Text: in.Policy}
	}
	hired, err := c.Hire(ctx, body)
	if err != nil {
		return "", err
	}
	text := "Hired: " + hired.Agent.ID + "\nSession: " + hired.Agent.Session
	if len(in.Command) == 0 {
		text += "\nIt is registered only. PINFOLD_SOCKET=" + pathresolver.EscapePath(hired.Socket) + " makes a program this agent."
	}
	return text, nil
}

func send(ctx context.Context, c *brokerhttp.Client, input json.RawMessage) (string, error) {
	var in struct {
		AgentID string `json:"agent_id"`
		Content string `json:"content"`
	}
	if err := arguments(input, &in); err != nil {
		return "", err
	}
	receipt, err := c.Send(ctx, brokerhttp.SendBody{To: key(in.AgentID), Content: in.Content})
	return receipt.Text, err
}

// key is the session key of an agent that was named by its id: an agent is hired
// with the session main.
func key(agent string) string {
	if agent == "" || strings.HasPrefix(agent, "agent:") {
		return agent
	}
	return "agent:" + agent + ":main"
}

func status(ctx context.Context, c *brokerhttp.Client, input json.RawMessage) (string, error) {
	id, err := target(ctx, c, input, access.AgentStatus, "nexus_status")
	if err != nil {
		return "", err
	}
	s, err := c.StatusOf(ctx, id)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s (%s)", s.ID, s.State)
	if s.Exit != nil {
		text += "\n" + ending(*s.Exit)
	}
	return text, nil
}

// ending says how a process ended. Its output was escaped by whoever ran it.
func ending(e broker.Exit) string {
	text := fmt.Sprintf("exited with code %d", e.Code)
	if e.Signal != "" {
		text = "ended by signal " + e.Signal
	}
	if e.Output != "" {
		text += "\nLast output: " + e.Output
	}
	return text
}

func cancel(ctx context.Context, c *brokerhttp.Client, input json.RawMessage) (string, error) {
	id, err := target(ctx, c, input, access.AgentCancel, "nexus_cancel")
	if err != nil {
		return "", err
	}
	a, err := c.Cancel(ctx, id)
	return "Cancelled: " + a.ID, err
}

func destroy(ctx context.Context, c *brokerhttp.Client, input json.RawMessage) (string, error) {
	id, err := target(ctx, c, input, access.AgentDestroy, "nexus_destroy")
	if err != nil {
		return "", err
	}
	fired, err := c.Fire(ctx, id)
	return "Fired: " + strings.Join(fired, ", "), err
}

// target is the agent that a call is about. Without one there is no address to call,
// so the broker is asked for its refusal.
func target(ctx context.Context, c *brokerhttp.Client, input json.RawMessage, action access.Action, tool string) (string, error) {
	var in struct {
		AgentID string `json:"agent_id"`
	}
	if err := arguments(input, &in); err != nil {
		return "", err
	}
	if in.AgentID != "" {
		return in.AgentID, nil
	}
	d, err := c.Decide(ctx, brokerhttp.DecideBody{Action: action, Tool: tool, Probe: true})
	if err != nil {
		return "", err
	}
	return "", &broker.Error{Code: d.Code, Message: d.Text}
}

// asToolError is a broker's refusal with its code, as a client of tools gets it.
func asToolError(err error) error {
	var refused *broker.Error
	if errors.As(err, &refused) {
		return &fileskills.Error{Code: fileskills.Code(refused.Code), Message: refused.Message}
	}
	return err
}
