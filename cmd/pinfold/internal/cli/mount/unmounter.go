package mount

import (
	"errors"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
)

// The process that serves a mount confines itself. Landlock then forbids it to unmount
// anything, so it starts another process beforehand, which unmounts for it at the end.

// unmountWish is what that process is told.
type unmountWish struct {
	Path  string
	Force bool // end what is in use
}

// unmountAnswer is what it says.
type unmountAnswer struct {
	Lazily bool
	Err    string
}

// unmounter is that process, as the serving process sees it.
type unmounter struct {
	cmd  *exec.Cmd
	line *child.Line
}

func startUnmounter() (*unmounter, error) {
	cmd, err := child.Command("unmounter")
	if err != nil {
		return nil, err
	}
	cmd.Dir = "/"                      // no directory is in use by it
	cmd.SysProcAttr = child.OwnGroup() // a Ctrl-C is for the process that serves
	line, err := child.Start(cmd, true)
	return &unmounter{cmd, line}, err
}

// unmount is sandboxfs.Options.Unmounter.
func (u *unmounter) unmount(path string, force bool) (lazily bool, err error) {
	if err := u.line.Tell(unmountWish{path, force}); err != nil {
		return false, err
	}
	var answer unmountAnswer
	if err := u.line.Hear(&answer); err != nil {
		return false, err
	}
	if answer.Err != "" {
		err = errors.New(answer.Err)
	}
	return answer.Lazily, err
}

// close ends the process, once nothing has to be unmounted any more.
func (u *unmounter) close() error { return errors.Join(u.line.Close(), u.cmd.Wait()) }

// NewUnmounter is how the serving process starts it. It is hidden: 'pinfold
// unmount' is for people.
func NewUnmounter(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use:    "unmounter",
		Short:  "Unmount what the process that starts this has mounted",
		Hidden: true,
		Args:   cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) // the process that serves needs it until its end
			line, err := child.Parent(new(bool))
			if err != nil {
				return cli.UsageError(errors.New("this command is pinfold's own"), "'pinfold unmount' takes a mount away")
			}
			for {
				var wish unmountWish
				if line.Hear(&wish) != nil {
					return nil // it serves no more
				}
				var answer unmountAnswer
				if answer.Lazily, err = UnmountOne(wish.Path, wish.Force); err != nil {
					answer.Err = err.Error()
				}
				if err := line.Tell(answer); err != nil {
					return err
				}
			}
		},
	}
}
