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
	time     time.Duration
	maxTasks int
	memory   cli.ByteSize
	cpu      float64
	tmpSize  cli.ByteSize
}

func (f *limitFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.grace, "grace", launcher.DefaultGrace, "after SIGTERM, give CMD `DURATION` to end before everything inside is killed; -1s never kills")
	flags.DurationVar(&f.time, "time", 0, "end CMD, and everything inside, `DURATION` after its start, such as 10m, with the exit code 124")
	flags.IntVar(&f.maxTasks, "pids", 0, "at most `N` processes and threads inside at once (default 2048, on large machines 512 for each processor)")
	flags.IntVar(&f.maxTasks, "max-tasks", 0, "the same as --pids, by its older name")
	_ = flags.MarkHidden("max-tasks")
	flags.Var(&f.memory, "memory", "at most `SIZE` of memory, such as 2G, for everything inside, without swap; beyond it everything inside is killed (needs a control group, or systemd)")
	flags.Float64Var(&f.cpu, "cpu", 0, "at most `N` processors, such as 1.5, for everything inside (needs a control group, or systemd)")
	flags.Var(&f.tmpSize, "tmp-size", "at most `SIZE`, such as 8G, in each of /tmp, /var/tmp, /dev/shm and a private home (default a quarter of the memory for /tmp and home, an eighth for the others)")
}

// check refuses what cannot be meant.
func (f *limitFlags) check() error {
	switch {
	case f.maxTasks < 0:
		return cli.UsageError(fmt.Errorf("--pids %d is less than one process", f.maxTasks), "leave it out for the default")
	case f.cpu != 0 && !(f.cpu >= leastCPU && f.cpu <= mostCPU): // nor what is no number
		return cli.UsageError(fmt.Errorf("--cpu %v is no number of processors from %v on", f.cpu, leastCPU), "leave it out for no bound")
	case f.time < 0:
		return cli.UsageError(fmt.Errorf("--time %v is over before it begins", f.time), "leave it out for no bound")
	}
	return nil
}

// leastCPU is the kernel's least share of a processor; mostCPU is more than there are.
const (
	leastCPU = 0.01
	mostCPU  = 1 << 20
)

// bounds reports whether a bound is asked for that only a run has.
func (f *limitFlags) bounds() bool { return f.time > 0 || f.maxTasks > 0 || f.memory > 0 || f.cpu > 0 }

func (f *limitFlags) into(c *launcher.Config) {
	c.Memory, c.CPU = int64(f.memory), f.cpu
	c.Time, c.MaxTasks, c.TmpSize, c.Grace = f.time, f.maxTasks, int64(f.tmpSize), f.grace
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
