package mount

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/internal/confine"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// mountInBackground starts this program again with --foreground, in a session
// of its own, and returns when that one says that the view stands. Until then
// its errors go to our stderr, and its exit code is ours.
func mountInBackground(a *cli.App) error {
	ready, says, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	child := exec.Command("/proc/self/exe")
	child.Args = append([]string{os.Args[0], "--foreground=true", "--ready-fd=3"}, a.Args...)
	child.Stderr = cli.File(a.Out.Stderr.Writer)
	child.ExtraFiles = []*os.File{says}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = child.Start()
	_ = says.Close()
	if err != nil {
		return err
	}
	if said, err := io.ReadAll(ready); err == nil && string(said) == readyWord {
		return child.Process.Release()
	}
	err = child.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return errors.New("the mount ended before it stood")
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return cli.Silent(exit.ExitCode()) // it said why
	}
	return err
}

const readyWord = "ready\n"

// detach lets go of what the starter shares with us, and tells it that the
// view stands. null is /dev/null.
func detach(readyFD int, null *os.File) error {
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Dup3(int(null.Fd()), 2, 0); err != nil {
		return err
	}
	f := os.NewFile(uintptr(readyFD), "ready")
	if f == nil {
		return errors.New("the descriptor of --ready-fd is not open")
	}
	_, err := f.WriteString(readyWord)
	return errors.Join(err, f.Close())
}

// settleMount leaves this process the capabilities that it needs to mount a view and
// to serve it, before the view has threads that answer in another's name; and its
// children do not get the descriptor of --ready-fd.
func settleMount(readyFD int) error {
	if readyFD > 0 {
		unix.CloseOnExec(readyFD)
	}
	return confine.Keep(confine.ServesFiles)
}

// confineMount leaves this process what it needs to serve a mounted view of r, and
// to remember what was left in it.
func confineMount(r *pathresolver.Resolver) error {
	return confine.Process(confine.Kept{Trees: append(state.Place(), r.Root()), Seen: []string{"/proc"}, Capabilities: confine.ServesFiles})
}
