package webinbox

import (
	"context"
	"io"
	"net/http"
	"time"
)

// events is a stream of server-sent events, each of which says that it is worth
// looking again and nothing else: an EventSource sends the cookie only. It ends
// with the session.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	wake, stop := s.opt.Broker.Watch(operator)
	defer stop()
	// Others are heard until the stream ends; nothing of theirs is waited for.
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	elsewhere := make(chan struct{}, 1)
	if s.opt.Others != nil {
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			_ = s.opt.Others.Watch(ctx, func() { // it ends with ctx
				select {
				case elsewhere <- struct{}{}:
				default: // the page is to look already
				}
			})
		}()
		defer func() { cancel(); <-heard }()
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	alive := time.NewTicker(aliveTime)
	defer alive.Stop()
	_, err := io.WriteString(w, "retry: 1000\n")
	for event := "here"; ; {
		_ = control.SetWriteDeadline(time.Now().Add(answerTime)) // for each, so that a reader who is stuck is left
		if err == nil {
			_, err = io.WriteString(w, "event: "+event+"\ndata: {}\n\n")
		}
		if err != nil || control.Flush() != nil {
			return
		}
		if !sleep(r, eventsApart) {
			return
		}
		select {
		case <-wake:
			event = "change"
		case <-elsewhere:
			event = "change"
		case <-alive.C:
			event = "here"
		case <-r.Context().Done():
			return
		}
		if !s.sessions.has(r, false, time.Now()) {
			return
		}
	}
}

// sleep reports false where the request ended first.
func sleep(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// takesLong lets an answer take its time.
func takesLong(w http.ResponseWriter, d time.Duration) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // what was sent is a few bytes
	_ = control.SetWriteDeadline(time.Now().Add(d))
}
