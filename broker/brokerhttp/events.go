package brokerhttp

import (
	"io"
	"net/http"
	"time"
)

// events is a stream of server-sent events, each of which says that it is worth
// looking again. Now and then one says that the stream is alive.
func (c *call) events() (any, error) {
	c.turn.Leave() // nothing is computed from here on
	wake, stop := c.s.b.Watch(c.who)
	defer stop()
	control := http.NewResponseController(c.w)
	_ = control.SetReadDeadline(time.Time{})
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.Header().Set("Cache-Control", "no-store")
	alive := time.NewTicker(aliveTime)
	defer alive.Stop()
	for event := "here"; ; {
		_ = control.SetWriteDeadline(time.Now().Add(bodyTime)) // for each, so that a reader who is stuck is left
		if _, err := io.WriteString(c.w, "event: "+event+"\ndata: {}\n\n"); err != nil {
			return nil, nil
		}
		if err := control.Flush(); err != nil {
			return nil, nil
		}
		select {
		case <-wake:
			event = "change"
		case <-alive.C:
			event = "here"
		case <-c.Context().Done():
			return nil, nil
		}
	}
}
