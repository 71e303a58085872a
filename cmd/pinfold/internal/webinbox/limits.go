package webinbox

import "time"

// How much a browser, or another program in its place, can make the server hold or
// wait for.
const (
	maxConnections = 64        // at once
	maxHeader      = 16 << 10  // bytes of a request's headers
	maxBody        = 16 << 10  // bytes of a request
	maxSessions    = 16        // browsers that are let in at a time; the oldest goes
	maxRequests    = 500       // rows of a list that is shown
	maxAgents      = 2000      // likewise
	maxGrants      = 1000      // likewise
	maxLine        = 2000      // characters of a text that is shown on one line
	maxArguments   = 512 << 10 // bytes of a request's arguments as they are shown: all that a broker takes, indented
	maxFound       = 200       // records of one answer
	maxSearched    = 50_000    // records that one search looks at
	searchPage     = 1000      // of which this many are read at once
	maxSearches    = 2         // at a time; others wait
	maxReasonBytes = 4 << 10   // of a denial
	maxLasting     = 30 * 24 * time.Hour

	sessionTime  = 12 * time.Hour
	headerTime   = 10 * time.Second
	answerTime   = time.Minute
	verifyTime   = 5 * time.Minute // that reading the whole audit may take
	idleTime     = 2 * time.Minute
	drainTime    = 3 * time.Second        // that Close gives to requests on their way
	aliveTime    = 15 * time.Second       // between signs of life of a stream
	eventsApart  = 100 * time.Millisecond // at least, between events of a stream
	warningApart = 10 * time.Second       // at least, between warnings of refused calls
)
