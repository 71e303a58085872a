package brokerhttp

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/internal/httpguard"
)

// call is one request, of somebody who is known.
type call struct {
	*http.Request
	s   *Server
	w   http.ResponseWriter
	who broker.Identity

	turn *callTurn
}

// route is one line of the API. do returns what is sent as JSON.
type route struct {
	method, path string
	do           func(*call) (any, error)
}

type ownerKey struct{}

// withOwner puts the connection, with its owner, into its requests' contexts.
func withOwner(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, ownerKey{}, httpguard.Beneath(c))
}

// handler answers all routes, after it has seen who asks.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) {
			who, _ := r.Context().Value(whoKey{}).(broker.Identity)
			answer, err := s.inTurn(rt, w, r, who)
			switch {
			case err != nil:
				writeError(w, err)
			case answer != nil:
				writeJSON(w, http.StatusOK, answer)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, fault(broker.CodeNotFound, "no such path: %s %s", r.Method, r.URL.Path))
	})
	return s.identify(mux)
}

// inTurn does what a request is about. Its turn ends before the answer is written,
// which the peer may read as slowly as it likes.
func (s *Server) inTurn(rt route, w http.ResponseWriter, r *http.Request, who broker.Identity) (any, error) {
	ctx, turn, end := s.turns.begin(r.Context(), who)
	defer end()
	return rt.do(&call{Request: r.WithContext(ctx), s: s, w: w, who: who, turn: turn})
}

type whoKey struct{}

// identify lets through who is known, and nobody else: by the socket, or over
// TCP by a token. It bounds what a request may bring and how long that
// may take.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(ownerKey{}).(*identified)
		if !ok {
			writeError(w, errNobody)
			return
		}
		who := c.who
		switch {
		case c.refused != nil:
			w.Header().Set("Connection", "close")
			writeError(w, s.refused(r.Context(), "socket of "+c.who.String(), fault(codeStranger, "%s", c.refused)))
			return
		// Nothing here is for pages.
		case c.tcp && httpguard.Guard{Remote: true, Hosts: s.opt.Hosts}.Check(r) != nil:
			writeError(w, s.refused(r.Context(), "tcp", fault(codeStranger, "requests of web pages are refused, and those by a name that is not this machine's")))
			return
		case c.tcp:
			who = s.tokens.of(r)
		}
		if who == (broker.Identity{}) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="pinfold"`)
			writeError(w, s.refused(r.Context(), "tcp", errNobody))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // a hijacked or test writer has none
		_ = control.SetWriteDeadline(time.Now().Add(bodyTime))
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, who)))
	})
}

// body reads the request's JSON into v, strictly: an unknown or doubled key is
// refused. No body is an empty object.
func (c *call) body(v any) error {
	c.turn.Leave() // the peer may send as slowly as it likes
	data, err := io.ReadAll(c.Body)
	c.turn.Enter()
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return fault(broker.CodeTooLarge, "the body has more than %d bytes", large.Limit)
		}
		return fault(broker.CodeInvalid, "the body could not be read: %v", err)
	}
	// From here on the connection is read only to see whether the peer is there.
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true)); err != nil {
		return c.forged("request", c.URL.Path, fault(broker.CodeInvalid, "the body is not what is wanted: %v", err))
	}
	return nil
}

// forged records a request that says what it must not, such as whom it is of,
// and returns its refusal.
func (c *call) forged(action, resource string, why *broker.Error) error {
	if err := c.s.b.Refused(c.Context(), c.who, action, resource, why); err != nil {
		c.s.opt.Logger.Warn("a refusal is not recorded", "of", c.who.String(), "why", err)
	}
	return why
}

// waiting is the context of a long poll: it ends with the request, or after the
// time that the query's wait says, which is most at most. Without one it has
// ended.
func (c *call) waiting(most time.Duration) (ctx context.Context, cancel context.CancelFunc, err error) {
	var d time.Duration
	if text := c.URL.Query().Get("wait"); text != "" {
		if d, err = time.ParseDuration(text); err != nil || d < 0 {
			return nil, nil, fault(broker.CodeInvalid, "wait=%q: want a duration such as 30s", text)
		}
	}
	c.takesLong(min(d, most) + bodyTime)
	ctx, cancel = context.WithTimeout(c.Context(), min(d, most))
	return ctx, cancel, nil
}

// takesLong lets the answer take its time.
func (c *call) takesLong(d time.Duration) {
	control := http.NewResponseController(c.w)
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Now().Add(d))
}

// number is a number of the query.
func (c *call) number(key string, otherwise int64) (int64, error) {
	text := c.URL.Query().Get(key)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fault(broker.CodeInvalid, "%s=%q: want a number that is not negative", key, text)
	}
	return n, nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	e := stdjson.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a peer that is gone is told nothing
}
