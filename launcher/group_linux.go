package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/cgroup"
)

// keeperName is what the program starts itself as to remove the control group.
const keeperName = "pinfold-keeper"

// fdKeep is where the keeper is told which group that is; its end is the run's.
const fdKeep = 3

// enterGroup has a control group hold the bounds of the run, before anything else
// happens in the set-up helper, which waits.
func (s *session) enterGroup() error {
	l := s.config.groupLimits()
	if l == (cgroup.Limits{}) {
		return nil
	}
	if err := s.startKeeper(); err != nil {
		return &SetupError{Step: "start what looks after the control group", Err: err}
	}
	var err error
	if s.group, err = cgroup.New(context.Background(), l, s.pid, s.keeper); err != nil {
		return &SetupError{Step: "bound what the run may use up", Err: err, Fix: "'" + groupFix() + "' starts it in a group of its own"}
	}
	dir, kept, err := s.group.Place()
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // the keeper has its own
	if err := send(s.keep, message{Verb: sayKeep, Kept: &kept}, int(dir.Fd())); err != nil {
		return err
	}
	return send(s.setup, message{Verb: sayGo}, -1)
}

// groupFix is a line that starts pinfold in a group of its own.
func groupFix() string {
	if os.Geteuid() == 0 {
		return "systemd-run --scope -p Delegate=yes pinfold run ..."
	}
	return "systemd-run --user --scope -p Delegate=yes pinfold run ..."
}

// startKeeper starts the process that lives on, where this one is killed, until the group
// is removed.
func (s *session) startKeeper() error {
	ours, theirs, err := channelPair()
	if err != nil {
		return err
	}
	defer unix.Close(theirs)
	null := s.std.null.Fd()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{keeperName}, &syscall.ProcAttr{
		Env:   childEnv,
		Files: []uintptr{null, null, null, uintptr(theirs)},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		unix.Close(ours)
		return err
	}
	s.keep, s.keeper = ours, pid
	return nil
}

// endGroup returns once the group is removed.
func (s *session) endGroup() {
	if s.keeper == 0 {
		return
	}
	unix.Close(s.keep)
	for {
		if _, err := unix.Wait4(s.keeper, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	s.keeper = 0
	if s.group != nil {
		_ = s.group.Close() // it is gone
	}
}

// keeperMain is the whole life of the keeper.
func keeperMain() int {
	m, dir, err := receive(fdKeep, -1)
	if err != nil || m.Kept == nil || dir < 0 {
		return ExitSetup // there is no group
	}
	for err == nil {
		_, _, err = receive(fdKeep, -1)
	}
	if err := cgroup.Keep(os.NewFile(uintptr(dir), "place"), *m.Kept); err != nil {
		return ExitSetup
	}
	return 0
}

// groupLimits are what a control group has to bound.
func (c *Config) groupLimits() cgroup.Limits {
	l := cgroup.Limits{Memory: c.Memory, CPU: c.CPU}
	if c.MaxTasks > 0 && !namespaceBounds(c.MaxTasks) {
		l.Tasks = c.MaxTasks + ownTasks
	}
	return l
}

const (
	// leastTaskBound is the least bound that the kernel takes for a process namespace:
	// 300 numbers are kept for its own use.
	leastTaskBound = 301
	// ownTasks is how many threads the set-up helper and process 1 may need, which are in
	// the group as well.
	ownTasks = 40
)

// namespaceBounds reports whether the process namespace itself can have this bound.
func namespaceBounds(tasks int) bool { return tasks >= leastTaskBound && boundsTasks() }

// leastMemory is what the set-up helper and process 1 need in any case.
const leastMemory = 64 << 20

// checkLimits refuses what cannot be meant.
func (c *Config) checkLimits() error {
	if c.Memory != 0 && c.Memory < leastMemory {
		return &SetupError{Step: "bound what the run may use up", Err: errors.New("the memory would not do for the start"), Fix: "give it " + sizeText(leastMemory) + " at least"}
	}
	return nil
}

// endedByMemory says so.
func (s *session) endedByMemory(res *Result) {
	res.ExitCode, res.Signal, res.Limit = exitSignal+int(unix.SIGKILL), unix.SIGKILL, LimitMemory
	res.Reason = s.outOfMemory()
}

func (s *session) outOfMemory() string {
	return "ended: it took more memory than --memory " + sizeText(s.config.Memory) + ", so everything inside was killed"
}

// sizeText is a number of bytes as a flag takes it.
func sizeText(n int64) string {
	for _, u := range []struct {
		word string
		size int64
	}{{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}} {
		if n%u.size == 0 {
			return fmt.Sprintf("%d%s", n/u.size, u.word)
		}
	}
	return fmt.Sprint(n)
}
