//go:build !linux

package brokerhost

import (
	"context"
	"errors"

	"github.com/pinfold-dev/pinfold/broker"
)

// OpenStore refuses: only Linux says for certain who is at the other end of a socket
// (SO_PEERPIDFD), and a broker rests on that.
func OpenStore(context.Context, string, string) (broker.Store, error) {
	return nil, errors.New("the broker runs on Linux only")
}
