package run

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/launcher"
)

// limitFlags are how much of the machine and of the operator's patience a run
// may use up.
type limitFlags struct {
	grace    time.Duration
	maxTasks int
	tmpSize  cli.ByteSize
}

func (f *limitFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.grace, "grace", launcher.DefaultGrace, "after SIGTERM, give CMD `DURATION` to end before everything inside is killed; -1s never kills")
	flags.IntVar(&f.maxTasks, "max-tasks", 0, "at most `N` processes and threads inside at once (default 2048, on large machines 512 for each processor)")
	flags.Var(&f.tmpSize, "tmp-size", "at most `SIZE`, such as 8G, in each of /tmp, /var/tmp, /dev/shm and a private home (default a quarter of the memory for /tmp and home, an eighth for the others)")
}

// check refuses what cannot be meant.
func (f *limitFlags) check() error {
	if f.maxTasks < 0 || f.maxTasks > 0 && f.maxTasks < leastMaxTasks {
		return cli.UsageError(fmt.Errorf("--max-tasks %d: the kernel knows no bound below %d", f.maxTasks, leastMaxTasks), "leave it out for the default")
	}
	return nil
}

// leastMaxTasks is the kernel's: 300 numbers are kept for its own use.
const leastMaxTasks = 301

func (f *limitFlags) into(c *launcher.Config) {
	c.MaxTasks, c.TmpSize, c.Grace = f.maxTasks, int64(f.tmpSize), f.grace
	if f.grace == 0 {
		c.Grace = time.Nanosecond // asked for: at once
	}
}

// onStopped tells the operator why nothing happens any more. The command's
// stop is not pinfold's: a deadline goes on, and Ctrl-C still ends it.
func onStopped(o *cli.Output, stop syscall.Signal, interactive bool) {
	if !o.Stderr.Terminal {
		return
	}
	how := "'kill -CONT " + strconv.Itoa(os.Getpid()) + "' continues it"
	if interactive {
		how += ", Ctrl-Z suspends the run"
	}
	// The command may have left the terminal in the midst of anything, and raw
	// mode does not end lines by itself.
	o.Stderr.Printf("\x18\x1b\\\x1b[m\r\npinfold: the command has stopped itself (%s): %s\r\n", stopName(stop), how)
}
