package viewbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// client speaks with one worker. It is for one goroutine.
type client struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies chan worker.Reply // closed when the worker is gone
	stderr  *tail
}

// hung is how long a row may take. It is above what the worker grants to one
// command, so that the worker's own words come first.
const hung = 15 * time.Minute

// startClient starts a worker by cmd, whose streams are still unset.
func startClient(cmd *exec.Cmd) (*client, error) {
	c := &client{cmd: cmd, replies: make(chan worker.Reply), stderr: &tail{}}
	cmd.Stderr = c.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c.in = in
	go func() {
		defer close(c.replies)
		for d := json.NewDecoder(out); ; {
			var r worker.Reply
			if err := d.Decode(&r); err != nil {
				return
			}
			c.replies <- r
		}
	}()
	return c, nil
}

// do asks for one row and waits for the answer. After an error that is not
// the row's own the worker is of no more use.
func (c *client) do(ctx context.Context, q worker.Request) (worker.Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, hung, fmt.Errorf("no answer in %s", hung))
	defer cancel()
	if err := json.NewEncoder(c.in).Encode(q); err != nil {
		return worker.Reply{}, c.gone(err)
	}
	select {
	case r, ok := <-c.replies:
		if !ok {
			return r, c.gone(errors.New("the worker ended"))
		}
		if r.Err != "" {
			return r, errors.New(r.Err)
		}
		return r, nil
	case <-ctx.Done():
		return worker.Reply{}, context.Cause(ctx)
	}
}

func (c *client) gone(err error) error { return fmt.Errorf("%w: %s", err, c.stderr) }

// stop ends the worker: by closing its input, and by a signal when it does
// not heed that.
func (c *client) stop() {
	_ = c.in.Close()
	killer := time.AfterFunc(5*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer killer.Stop()
	for range c.replies { // so that its last words do not block it
	}
	_ = c.cmd.Wait()
}
