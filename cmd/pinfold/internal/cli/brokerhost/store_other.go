//go:build !linux

package brokerhost

import (
	"context"
	"errors"

	"github.com/pinfold-dev/pinfold/broker"
)

// OpenStore refuses: who is at the other end of a socket only Linux says
// (SO_PEERPIDFD), and without that nobody is anybody.
func OpenStore(context.Context, string, string) (broker.Store, error) {
	return nil, errors.New("the broker runs on Linux only")
}
