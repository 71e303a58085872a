package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
)

// Who answers for a run looks at the processes that ask, starts programs, and reaches
// sockets. The process that serves the run's view must be able to do none of that, so
// the two are apart. The one asks the other over the broker's API, on a connection that
// nobody else can reach. How it begins and how it ends they tell each other on a line.

// answersName is the command of the process that answers.
const answersName = "answers"

// errApart is that the process that answers is gone before the run is.
var errApart = errors.New("the process that finds an answer has ended")

// apart finds who answers in another process, which lasts until the run's end.
func (o *asked) apart(ctx context.Context, a *cli.App) (*answers, error) {
	cmd, err := child.Command(answersName)
	if err != nil {
		return nil, err
	}
	ours, theirs, err := child.Pair("asks")
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = cli.File(a.Out.Stdout.Writer), cli.File(a.Out.Stderr.Writer)
	cmd.ExtraFiles = []*os.File{theirs}
	line, err := child.Start(cmd, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the process that finds answers: %w", err), ours.Close())
	}
	given := context.AfterFunc(ctx, func() { _ = line.Close() })
	defer given()
	var at found
	if line.Hear(&at) != nil {
		_, _ = line.Close(), ours.Close() // nothing is owed on them
		return nil, notFound(ctx, cmd.Wait())
	}
	stopped := func() { _ = line.Hear(new(bool)) } // or it is gone
	end := func(exit broker.Exit) error {
		told := line.Tell(exit)
		_ = cmd.Wait() // it has said what went wrong
		if err := line.Close(); told == nil {
			return err
		}
		return errApart
	}
	w, err := o.newAnswers(ctx, ours, at, stopped, end)
	if err != nil {
		return nil, err
	}
	w.apart = true
	return w, nil
}

// notFound is why nobody was found who answers: the process that looked has ended.
func notFound(ctx context.Context, ended error) error {
	var exited *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(ended, &exited) && exited.Exited():
		return cli.Silent(cli.ExitRunOwn) // it has said why
	}
	return fmt.Errorf("%w: %w", errApart, ended)
}

// NewAnswers is how a run starts the process that finds answers for it. It is hidden.
func NewAnswers(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:         answersName,
		Short:       "Find answers for a run, for 'pinfold run'",
		Hidden:      true,
		Args:        cli.NoArgs,
		Annotations: map[string]string{cli.OwnErrors: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The run's end is this one's, whatever else is sent to all processes. It
			// is not ignored: what is started here would ignore it as well.
			signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			var o asked
			line, err := child.Parent(&o)
			if err != nil {
				return cli.UsageError(errors.New("this command is pinfold's own"), "'pinfold run' starts a command")
			}
			return o.answer(cmd.Context(), a, line)
		},
	}
}

// answer answers until the view's process has told how its command ended, or is gone:
// then nothing is said of it, as nothing would be had there been one process.
func (o *asked) answer(ctx context.Context, a *cli.App, line *child.Line) error {
	asks, err := child.Inherited()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan broker.Exit, 1)
	go func() {
		defer stop()
		var exit broker.Exit
		if line.Hear(&exit) == nil {
			ended <- exit
		}
	}()
	who, err := o.reach(ctx, a)
	switch {
	case ctx.Err() != nil:
		return nil // nobody is there any more who would ask
	case err != nil:
		return err
	}
	who.serve(asks)
	if err := line.Tell(who.found()); err != nil {
		return nil // likewise
	}
	go func() {
		who.stopped()
		_ = line.Tell(true) // likewise
	}()
	<-ctx.Done()
	select {
	case exit := <-ended:
		return who.end(exit)
	default:
		return nil
	}
}
