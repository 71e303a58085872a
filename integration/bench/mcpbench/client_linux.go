package mcpbench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hung is how long an answer may take.
const hung = time.Minute

// client speaks with one server. It is for one goroutine.
type client struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	id     int
}

// message is what a client reads of an answer.
type message struct {
	ID     *int `json:"id"`
	Method string
	Error  json.RawMessage
	Result struct {
		IsError bool
		Content []struct{ Text string }
	}
}

// connect starts a server and initializes it.
func connect(argv []string, dir string) (*client, error) {
	c := &client{cmd: exec.Command(argv[0], argv[1:]...)}
	c.cmd.Dir, c.cmd.Stderr = dir, &c.stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReaderSize(out, 1<<20)
	_, err = c.ask("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "pinfold-bench", "version": "1"}})
	if err == nil {
		_, err = c.in.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))
	}
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("%s: %w: %.300s", argv[0], err, c.stderr.Bytes())
	}
	return c, nil
}

// stop ends the server: by the end of its input, and if that does not do, by
// force.
func (c *client) stop() {
	_ = c.in.Close()
	killer := time.AfterFunc(5*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer killer.Stop()
	_ = c.cmd.Wait()
}

// line is a request that is ready to be sent.
func (c *client) line(method string, params any) ([]byte, error) {
	c.id++
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	return append(b, '\n'), err
}

func (c *client) ask(method string, params any) ([]byte, error) {
	line, err := c.line(method, params)
	if err != nil {
		return nil, err
	}
	return c.send(line)
}

// send sends a request and waits for its answer, which is the next line that
// is no notification. The answer is good until the next one.
func (c *client) send(line []byte) ([]byte, error) {
	killer := time.AfterFunc(hung, func() { _ = c.cmd.Process.Kill() })
	defer killer.Stop()
	if _, err := c.in.Write(line); err != nil {
		return nil, err
	}
	for {
		answer, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("no answer: %w: %.300s", err, c.stderr.Bytes())
		}
		if !bytes.Contains(answer, []byte(`"method"`)) {
			return answer, nil
		}
		var m message
		if err := json.Unmarshal(answer, &m); err != nil || m.Method == "" {
			return answer, err
		}
	}
}

// text checks an answer to a call, and gives its text.
func text(answer []byte) (string, error) {
	var m message
	switch err := json.Unmarshal(answer, &m); {
	case err != nil:
		return "", err
	case len(m.Error) > 0:
		return "", fmt.Errorf("error %.300s", m.Error)
	case len(m.Result.Content) == 0:
		return "", errors.New("an answer without content")
	case m.Result.IsError:
		return "", fmt.Errorf("refused: %.300s", m.Result.Content[0].Text)
	}
	return m.Result.Content[0].Text, nil
}
