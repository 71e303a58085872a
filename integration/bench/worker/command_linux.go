package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// line is a command and what it may answer.
type line struct {
	argv   []string
	dir    string // "" is the top of the tree
	env    []string
	status int // exit status that means success
}

// longest is how long one command may take before it counts as hung.
const longest = 5 * time.Minute

// run runs the command and waits for it.
func (l line) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	var errText bytes.Buffer
	c := exec.CommandContext(ctx, l.argv[0], l.argv[1:]...)
	c.Dir, c.Stderr = l.dir, &errText
	c.Env = append(c.Environ(), l.env...)
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == l.status {
		return nil
	}
	if err == nil && l.status != 0 {
		err = fmt.Errorf("status 0, want %d", l.status)
	}
	if err != nil {
		return fmt.Errorf("%v: %w: %.200s", l.argv, err, errText.Bytes())
	}
	return nil
}

// command is a row that runs one command.
func command(make func(*Job) line) func(*Job) (int, error) {
	return func(j *Job) (int, error) {
		l := make(j)
		j.Start()
		defer j.Stop()
		return 1, l.run()
	}
}

func find(*Job) line {
	return line{argv: []string{"find", ForestDir, "-name", "no-such-name"}}
}

// absent is in no file; grep and rg answer 1, and have read everything.
const absent = "zq_absent_zq"

func grep(*Job) line { return line{argv: []string{"grep", "-r", absent, SmallDir}, status: 1} }

func rg(*Job) line {
	return line{argv: []string{"rg", "--no-config", absent, SmallDir}, status: 1}
}
