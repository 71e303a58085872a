//go:build !linux

package agents

import (
	"context"
	"errors"
)

// open refuses, as OpenStore does.
func (c *auditCopy) open(context.Context, string) (bool, error) {
	return false, errors.New("the broker runs on Linux only")
}
