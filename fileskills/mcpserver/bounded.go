package mcpserver

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// bounded limits what clients can hold: requests at once, and the time that a
// body takes to arrive and a piece of an answer to be taken.
func bounded(next http.Handler) http.Handler {
	slots := make(chan struct{}, maxInFlight)
	var held atomic.Int64 // bytes of the bodies of those in slots
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A GET is a session's stream of notices: as many as sessions.
		if r.Method != http.MethodGet {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			default:
				tooMany(w)
				return
			}
			size := r.ContentLength
			if size < 0 || size > maxMessage {
				size = maxMessage // at most that is read
			}
			now := held.Add(size)
			defer held.Add(-size)
			if now > maxHeld {
				tooMany(w)
				return
			}
		}
		control := http.NewResponseController(w)
		if control.SetReadDeadline(time.Now().Add(bodyTime)) == nil { // not all writers can
			r.Body = &timedBody{ReadCloser: r.Body, control: control}
		}
		next.ServeHTTP(&timedWriter{ResponseWriter: w, control: control}, r)
	})
}

func tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
}

// timedBody lifts the deadline once the body has arrived: reading goes on in
// the background, to notice a client that leaves, and must not end by it.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.control.SetReadDeadline(time.Time{}) // it worked when it was set
	}
	return n, err
}

// timedWriter gives each piece of an answer its own time, however long the
// whole takes.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w *timedWriter) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(bodyTime)) // not all writers can
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
