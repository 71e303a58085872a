//go:build !linux

package approver

import "errors"

// openTerminal fails: there is no run here that would ask.
func openTerminal() (askTerminal, error) {
	return nil, errors.New("commands run in a view on Linux only")
}
