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
// changed that concerns the caller, until ctx ends or the stream does. All that
// changes while it looks is one reason to look again. It always returns an error;
// whoever goes on watching calls it again.
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
	changed := make(chan struct{}, 1)
	go func() {
		defer close(changed)
		first := true
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			event, is := strings.CutPrefix(lines.Text(), "event: ")
			if !is {
				continue
			}
			quiet.Reset(silence)
			if first || event == "change" {
				first = false
				select {
				case changed <- struct{}{}:
				default: // it is to look already
				}
			}
		}
	}()
	for range changed {
		if ctx.Err() == nil {
			look()
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return &UnreachableError{errors.New("the stream of events has ended")}
}
