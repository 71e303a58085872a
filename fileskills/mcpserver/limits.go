package mcpserver

import "time"

// The bounds on what a peer can make the server hold.
const (
	// maxMessage is the size of one message, in bytes: a file of 10 MiB can
	// be written in one call, escapes included.
	maxMessage = 32 << 20
	// maxInFlight is how many requests of one stdio session, or of all HTTP
	// clients together, are worked on at once. More are refused.
	maxInFlight = 64
	// maxHeld is the size of those requests together, in bytes: what is made of
	// a message while it is worked on is several times as much. One request is
	// always taken.
	maxHeld = 4 * maxMessage
	// maxSessions is how many HTTP sessions exist at once.
	maxSessions = 64
	// sessionIdle ends an HTTP session that is not used.
	sessionIdle = time.Hour
	// maxHeader is the size of the headers of an HTTP request, in bytes.
	maxHeader = 16 << 10
	// bodyTime is how long the body of an HTTP request may take to arrive.
	bodyTime = 30 * time.Second
	// drain is how long calls may go on after the peer closed its end, and
	// how long cancelled ones may take to say so.
	drain = 5 * time.Second

	// maxResource is the size of a file that is sent as a resource, in bytes.
	// read_file pages through larger ones.
	maxResource = 1 << 20
	// maxListed is how many files a page of resources/list names.
	maxListed = 200
)
