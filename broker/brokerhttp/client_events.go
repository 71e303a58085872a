package brokerhttp

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// silence is how long a stream of events may say nothing: a few signs of life.
const silence = 3 * aliveTime

// Watch calls look once the broker listens, and again whenever something has
// changed that concerns the caller, until ctx ends or the stream does. It always
// returns an error; whoever goes on watching calls it again.
func (c *Client) Watch(ctx context.Context, look func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := c.send(ctx, http.MethodGet, "/v1/events", nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	quiet := time.AfterFunc(silence, func() { cancel(&UnreachableError{errors.New("it says nothing any more")}) })
	defer quiet.Stop()
	first := true
	for lines := bufio.NewScanner(resp.Body); ; {
		if !lines.Scan() {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return &UnreachableError{errors.New("the stream of events has ended")}
		}
		event, is := strings.CutPrefix(lines.Text(), "event: ")
		if !is {
			continue
		}
		quiet.Reset(silence)
		if first || event == "change" {
			first = false
			look()
		}
	}
}
