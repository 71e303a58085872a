//go:build unix

package child

import (
	"os"
	"syscall"
)

// OwnGroup starts a process in a process group of its own.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills a process that was started so, and all of its group.
func KillGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
