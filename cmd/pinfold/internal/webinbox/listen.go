package webinbox

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// Listen opens address, or without one the port of 127.0.0.1 that sessions in
// dir are from, so that pages that are open go on after a restart; where that
// is taken, or there is none, any port. New says whether it is loopback.
func Listen(ctx context.Context, dir, address string) (net.Listener, error) {
	var c net.ListenConfig
	if address != "" {
		return c.Listen(ctx, "tcp", address)
	}
	for _, port := range append(lastPorts(dir), 0) {
		l, err := c.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil || port == 0 {
			return l, err
		}
	}
	panic("pinfold bug: the last port of the list is 0")
}

// lastPorts is the port of the latest session in dir, if there is one.
func lastPorts(dir string) []int {
	data, err := os.ReadFile(filepath.Join(dir, sessionsName))
	var list []session
	if err != nil || json.Unmarshal(data, &list) != nil || len(list) == 0 {
		return nil
	}
	return []int{list[len(list)-1].Port}
}
