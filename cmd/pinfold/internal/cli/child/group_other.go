//go:build !unix

package child

import (
	"os"
	"syscall"
)

func OwnGroup() *syscall.SysProcAttr { return nil }

func KillGroup(p *os.Process) error { return p.Kill() }
