//go:build !windows

package pathresolver

import "syscall"

const errIsDirectory = syscall.EISDIR
