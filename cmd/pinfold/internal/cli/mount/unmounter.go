package mount

import (
	"encoding/gob"
	"errors"
	"io"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
)

// The process that serves a mount confines itself. Landlock then forbids it to unmount
// anything, so it starts another process beforehand, which unmounts for it at the end.

// unmountWish is what that process is told, as gob: a path may hold any byte.
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
	life io.Closer // it ends with it
	tell *gob.Encoder
	hear *gob.Decoder
}

func startUnmounter() (*unmounter, error) {
	self, err := child.Self()
	if err != nil {
		return nil, err
	}
	u := &unmounter{cmd: exec.Command(self, "unmounter")}
	u.cmd.Args[0] = "pinfold"
	u.cmd.Dir = "/"                      // no directory is in use by it
	u.cmd.SysProcAttr = child.OwnGroup() // a Ctrl-C is for the process that serves
	hear, err := u.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	tell, err := u.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	u.life, u.tell, u.hear = tell, gob.NewEncoder(tell), gob.NewDecoder(hear)
	return u, u.cmd.Start()
}

// unmount is sandboxfs.Options.Unmounter.
func (u *unmounter) unmount(path string, force bool) (lazily bool, err error) {
	if err := u.tell.Encode(unmountWish{path, force}); err != nil {
		return false, err
	}
	var answer unmountAnswer
	if err := u.hear.Decode(&answer); err != nil {
		return false, err
	}
	if answer.Err != "" {
		err = errors.New(answer.Err)
	}
	return answer.Lazily, err
}

// close ends the process, once nothing has to be unmounted any more.
func (u *unmounter) close() error { return errors.Join(u.life.Close(), u.cmd.Wait()) }

// NewUnmounter is how the serving process starts it. It is hidden: 'pinfold
// unmount' is for people.
func NewUnmounter(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:    "unmounter",
		Short:  "Unmount what the process that starts this has mounted",
		Hidden: true,
		Args:   cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) // the process that serves needs it until its end
			in, out := gob.NewDecoder(a.Stdin), gob.NewEncoder(a.Out.Stdout)
			for {
				var wish unmountWish
				if err := in.Decode(&wish); err != nil {
					return nil // it serves no more
				}
				var answer unmountAnswer
				var err error
				if answer.Lazily, err = UnmountOne(wish.Path, wish.Force); err != nil {
					answer.Err = err.Error()
				}
				if err := out.Encode(answer); err != nil {
					return err
				}
			}
		},
	}
}
