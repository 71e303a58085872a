package brokerhttp

import "time"

// What one peer can make the server hold or wait for.
const (
	maxBody        = 2 << 20          // bytes of a request: a message of broker.MaxText, escaped
	maxHeader      = 16 << 10         // bytes of its headers
	maxConnections = 64               // at once, for each socket and for all of TCP
	maxWait        = 50 * time.Second // of one long poll; the client asks again
	headerTime     = 10 * time.Second
	bodyTime       = 30 * time.Second
	idleTime       = 2 * time.Minute
	drainTime      = 3 * time.Second // that Close gives to requests on their way
	maxPage        = 1000            // rows of one answer
)
