package webinbox

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
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
		switch {
		case !ownName(r.Host):
			s.refuse(w, r, http.StatusMisdirectedRequest, "host", "this page is at a loopback address, by no other name")
			return
		case !fromHere(r):
			s.refuse(w, r, http.StatusForbidden, "origin", "this was sent by another page")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// ownName says whether a Host is this machine's by itself. A page whose name
// was rebound to this machine's address sends that name. The port may be
// another one: ssh forwards it.
func ownName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().IsLoopback()
	}
	return strings.EqualFold(strings.TrimSuffix(name, "."), "localhost")
}

// fromHere says whether a request may come from the page itself. A browser says
// the Origin of what changes something, and of all that another origin sends;
// a page on another port of this machine is another origin, though the same
// site. Who only opens the page has none.
func fromHere(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) > 1, len(origins) == 1 && origins[0] != "http://"+r.Host:
		return false
	case len(origins) == 0 && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	// A link elsewhere may lead here: the page itself holds nothing.
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Method == http.MethodGet && r.URL.Path == "/"
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
