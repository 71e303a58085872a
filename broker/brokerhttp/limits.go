package brokerhttp

import "time"

// What one peer can make the server hold or wait for.
const (
	maxBody        = 2 << 20          // bytes of a request: a message of broker.MaxText, escaped
	maxHeader      = 16 << 10         // bytes of its headers
	maxConnections = 64               // at once, for each socket and for all of TCP
	maxWait        = 50 * time.Second // of one long poll; the client asks again
	maxAwait       = 12 * time.Hour   // of one wait for a child
	headerTime     = 10 * time.Second
	bodyTime       = 30 * time.Second
	idleTime       = 2 * time.Minute
	drainTime      = 3 * time.Second  // that Close gives to requests on their way
	maxSocketName  = 64               // bytes of a socket's name, without its ending
	maxPage        = 1000             // rows of one answer
	maxBrief       = 2 << 10          // bytes of a text in a list of rows
	maxList        = maxAnswer / 2    // bytes of a list of rows
	aliveTime      = 15 * time.Second // between signs of life of a stream of events
	fireTime       = 3 * time.Minute  // that firing a tree may take, 10 s for each that does not listen
	verifyTime     = 5 * time.Minute  // that reading the whole audit may take
)
