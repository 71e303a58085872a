package mcpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/httpguard"
)

// guarded lets through who may use the server. The guard stops web pages, the
// token any other program of this machine, or of the network; neither relies on
// the other.
func guarded(o HTTPOptions, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(o.Token))
	guard := httpguard.Guard{Remote: true, Hosts: o.Hosts, Pages: httpguard.OwnOrigin}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := guard.Check(r)
		switch {
		case err == httpguard.ErrHost:
			http.Error(w, "this server is not called by that Host", http.StatusForbidden)
		case err != nil:
			http.Error(w, "requests of web pages are refused", http.StatusForbidden)
		case o.Token == "" || !hasToken(r, want):
			w.Header().Set("WWW-Authenticate", `Bearer realm="pinfold"`)
			http.Error(w, "the bearer token is missing or wrong", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hasToken compares in a time that tells nothing, not even the length.
func hasToken(r *http.Request, want [sha256.Size]byte) bool {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
