package approver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
	"github.com/pinfold-dev/pinfold/internal/helper"
)

const (
	maxExecs = 4                // commands of --approve exec that run at a time
	execTime = 10 * time.Minute // that one may take; then the answer is no
)

// execAnswers answers by a command of the operator's: exit code 0 is yes, once,
// all else is no, and what the command has printed is the reason. The command
// has all of the operator's rights, and the request on its standard input.
type execAnswers struct {
	command string
	path    string // PATH of the command
	propose func(context.Context, broker.Identity, string) (brokerhttp.Proposal, error)
}

// execRequest is what the command reads: a request with its fields, what it would change
// as diff (unified, escaped), and why there is none as note.
func execRequest(r broker.Request, diff, note string) ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for key, text := range map[string]string{"diff": diff, "note": note} {
		if text != "" {
			fields[key] = text
		}
	}
	return json.Marshal(fields)
}

func (x execAnswers) answer(ctx context.Context, r broker.Request) decision {
	said, err := x.run(ctx, r)
	var exited *exec.ExitError
	switch {
	case err == nil:
		return decision{effect: access.Allow}
	case ctx.Err() != nil:
		return decision{}
	case !errors.As(err, &exited) || exited.ExitCode() < 0: // it did not say no itself
		return decision{effect: access.Deny, reason: "Denied: --approve exec: " + err.Error()}
	}
	return decision{effect: access.Deny, reason: said}
}

// run returns what the command has printed.
func (x execAnswers) run(ctx context.Context, r broker.Request) (string, error) {
	var diff, note string
	if p, err := x.propose(ctx, broker.OperatorIdentity(), r.ID); err == nil {
		diff, note = p.Diff, p.Note
	}
	input, err := execRequest(r, diff, note)
	if err != nil {
		return "", err
	}
	timed, cancel := context.WithTimeout(ctx, execTime)
	defer cancel()
	shell, err := helper.Path("sh")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(timed, shell, "-c", x.command)
	cmd.Env = append(os.Environ(), "PATH="+x.path)
	var out child.Tail
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(append(input, '\n')), &out, &out
	cmd.SysProcAttr = child.OwnGroup() // a Ctrl-C for the run is none for its answers
	cmd.Cancel = func() error { return child.KillGroup(cmd.Process) }
	cmd.WaitDelay = time.Second // what it has left behind may hold its output
	err = cmd.Run()
	if timed.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %v", execTime)
	}
	return strings.TrimSpace(out.String()), err
}
