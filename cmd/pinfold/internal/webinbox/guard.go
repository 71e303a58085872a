package webinbox

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/internal/httpguard"
)

// headers are those of every answer. The page loads its own files and nothing
// else, is in no frame, and cannot make markup or scripts of a string.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Cache-Control":                "no-store",
}

// guard refuses what does not come from the page itself, before anything else
// is looked at.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		err := httpguard.Guard{Pages: httpguard.OwnPage}.Check(r)
		switch {
		case err == httpguard.ErrHost:
			s.refuse(w, r, http.StatusMisdirectedRequest, "host", "this page is at a loopback address, by no other name")
			return
		case err != nil:
			s.refuse(w, r, http.StatusForbidden, "origin", "this was sent by another page")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// entered lets through who was let in. With whole, the page's key is needed
// too.
func (s *Server) entered(whole bool, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.sessions.has(r, whole, time.Now()) {
			s.refuse(w, r, http.StatusUnauthorized, "session", "this browser was not let in, or no longer: open the link that pinfold serve prints")
			return
		}
		next(w, r)
	}
}

// refuse answers with an error and says so in the log.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, code, text string) {
	s.warned.add(r, code)
	writeError(w, status, code, text)
}

// warnings are about calls that were refused. Whoever sends many must not fill
// the log: those that come soon after another are counted.
type warnings struct {
	log *slog.Logger

	mu   sync.Mutex
	last time.Time
	more int
}

func (l *warnings) add(r *http.Request, code string) {
	l.mu.Lock()
	now := time.Now()
	quiet := now.Sub(l.last) < warningApart
	more := l.more
	if quiet {
		l.more++
	} else {
		l.last, l.more = now, 0
	}
	l.mu.Unlock()
	if !quiet {
		l.log.Warn("a call to the page was refused", "why", code, "method", shown(r.Method), "path", shown(r.URL.Path), "host", shown(r.Host),
			"origin", shown(r.Header.Get("Origin")), "from", r.RemoteAddr, "others_before", more)
	}
}
