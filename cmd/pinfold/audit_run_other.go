//go:build !linux

package main

import (
	"context"
	"errors"
)

// open refuses, as openStore does.
func (c *auditCopy) open(context.Context, string) (bool, error) {
	return false, errors.New("the broker runs on Linux only")
}
