package webinbox

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// handler answers the page's own files, and its calls beneath /api. Nothing of
// the broker is in the files: they are for everybody who can connect.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.file("index.html"))
	mux.HandleFunc("GET /assets/{name}", s.asset)
	mux.HandleFunc("POST /api/enter", s.enter)
	mux.HandleFunc("POST /api/leave", s.entered(true, s.leave))
	mux.HandleFunc("GET /api/events", s.entered(false, s.events))
	for path, do := range map[string]func(*http.Request) (any, error){
		"GET /api/requests":               s.requests,
		"GET /api/requests/{id}":          s.request,
		"POST /api/requests/{id}/approve": s.approve,
		"POST /api/requests/{id}/deny":    s.deny,
		"GET /api/agents":                 s.agents,
		"GET /api/grants":                 s.grants,
		"POST /api/grants/{id}/revoke":    s.revoke,
		"GET /api/records":                s.records,
	} {
		mux.HandleFunc(path, s.entered(true, func(w http.ResponseWriter, r *http.Request) { answer(w, r, do) }))
	}
	mux.HandleFunc("POST /api/verify", s.entered(true, func(w http.ResponseWriter, r *http.Request) {
		takesLong(w, verifyTime)
		answer(w, r, s.verify)
	}))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusNotFound, "not_found", "there is nothing here")
	})
	return s.guard(mux)
}

// answer sends what do returns as JSON.
func answer(w http.ResponseWriter, r *http.Request, do func(*http.Request) (any, error)) {
	v, err := do(r)
	var refused *broker.Error
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, v)
	case errors.As(err, &refused) && refused.Code == broker.CodeUnavailable:
		writeError(w, http.StatusServiceUnavailable, string(refused.Code), refused.Message)
	case errors.As(err, &refused):
		writeError(w, http.StatusConflict, string(refused.Code), refused.Message)
	case r.Context().Err() != nil:
		writeError(w, http.StatusServiceUnavailable, "ending", "the broker is ending")
	default:
		writeError(w, http.StatusInternalServerError, "internal", err.Error())
	}
}

// enter exchanges a link's token for a session.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Token string `json:"token"`
	}
	if err := read(r, &body); err != nil {
		writeError(w, http.StatusBadRequest, "invalid", err.Error())
		return
	}
	cookie, key, ok, err := s.sessions.enter(body.Token, time.Now())
	switch {
	case err != nil:
		writeError(w, http.StatusInternalServerError, "internal", "the session could not be kept: "+err.Error())
	case !ok:
		s.refuse(w, r, http.StatusForbidden, "link", "this link is not the one that works now: it works once")
	default:
		http.SetCookie(w, cookie)
		writeJSON(w, http.StatusOK, map[string]string{"key": key})
	}
}

// leave ends the session.
func (s *Server) leave(w http.ResponseWriter, r *http.Request) {
	if err := s.sessions.leave(r, time.Now()); err != nil {
		writeError(w, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	http.SetCookie(w, s.sessions.cookie("", -1))
	writeJSON(w, http.StatusOK, map[string]bool{"left": true})
}

// read reads a request's JSON into v; an unknown key is an error.
func read(r *http.Request, v any) error {
	if r.Header.Get("Content-Type") != "application/json" {
		return errors.New("the body is not JSON")
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return errors.New("the body is not what is wanted: " + shown(err.Error()))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value was sent")
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a browser that is gone is told nothing
}

// failure is how a refusal is sent.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func writeError(w http.ResponseWriter, status int, code, text string) {
	writeJSON(w, status, failure{code, cut(text, maxLine)})
}
