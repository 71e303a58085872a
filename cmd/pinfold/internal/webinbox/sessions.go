package webinbox

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// sessions are the browsers that were let in, and the link that lets in the
// next one. Of secrets only hashes are kept; the link alone stands in a file as
// it is, since a person has to read it.
type sessions struct {
	dir  string
	addr *net.TCPAddr

	mu    sync.Mutex
	token string // of the link
	list  []session
}

// session is one browser's. Both secrets are needed: see doc.go.
type session struct {
	Port    int       `json:"port"`   // that its origin has
	Cookie  []byte    `json:"cookie"` // hash of the cookie
	Key     []byte    `json:"key"`    // hash of what the page keeps
	Expires time.Time `json:"expires"`
}

const (
	linkName     = "page.link"
	sessionsName = "page.sessions"
	keyHeader    = "X-Pinfold-Key"
)

// openSessions reads what an earlier server left in dir, and makes a link.
func openSessions(dir string, addr *net.TCPAddr) (*sessions, error) {
	if err := private(dir); err != nil {
		return nil, err
	}
	s := &sessions{dir: dir, addr: addr}
	data, err := os.ReadFile(filepath.Join(dir, sessionsName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case json.Unmarshal(data, &s.list) != nil:
		s.list = nil // half a file lets nobody in
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.newLink()
}

// private holds that nobody else can read what is written to dir.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%q is no directory that only you can enter: chmod 700", dir)
	}
	return nil
}

// cookieName is another one for each port: cookies know no ports, and pages of
// two brokers would log each other out.
func (s *sessions) cookieName() string { return fmt.Sprintf("pinfold_page_%d", s.addr.Port) }

func (s *sessions) linkFile() string { return filepath.Join(s.dir, linkName) }

func (s *sessions) currentLink() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.linkTo(s.token)
}

func (s *sessions) linkTo(token string) string {
	return "http://" + s.addr.String() + "/#" + token
}

// newLink makes another link. s.mu is held.
func (s *sessions) newLink() error {
	s.token = rand.Text()
	return writePrivate(s.linkFile(), []byte(s.linkTo(s.token)+"\n"))
}

// enter lets a browser in by a link's token, which is used up by it: of two
// that come at once one is let in. The error is that a file could not be
// written; then nobody is.
func (s *sessions) enter(token string, now time.Time) (cookie *http.Cookie, key string, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !same(hashOf(token), hashOf(s.token)) {
		return nil, "", false, nil
	}
	if err := s.newLink(); err != nil {
		return nil, "", false, err
	}
	secret := rand.Text()
	key = rand.Text()
	list := s.living(now)
	if len(list) >= maxSessions {
		list = list[len(list)-maxSessions+1:]
	}
	list = append(list, session{Port: s.addr.Port, Cookie: hashOf(secret), Key: hashOf(key), Expires: now.Add(sessionTime)})
	if err := s.keep(list); err != nil {
		return nil, "", false, err
	}
	return s.cookie(secret, int(sessionTime/time.Second)), key, true, nil
}

// cookie is a session's: no script reads it, and no other site's page sends it.
func (s *sessions) cookie(value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: s.cookieName(), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// has says whether a request has the cookie of a session, and, where the whole
// of it is asked for, the key.
func (s *sessions) has(r *http.Request, whole bool, now time.Time) bool {
	c, err := r.Cookie(s.cookieName())
	if err != nil {
		return false
	}
	cookie, key := hashOf(c.Value), hashOf(r.Header.Get(keyHeader))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.list {
		if one.Port == s.addr.Port && now.Before(one.Expires) && same(cookie, one.Cookie) && (!whole || same(key, one.Key)) {
			return true
		}
	}
	return false
}

// leave ends the session of a request.
func (s *sessions) leave(r *http.Request, now time.Time) error {
	c, err := r.Cookie(s.cookieName())
	if err != nil {
		return nil
	}
	cookie := hashOf(c.Value)
	s.mu.Lock()
	defer s.mu.Unlock()
	var rest []session
	for _, one := range s.living(now) {
		if !same(cookie, one.Cookie) {
			rest = append(rest, one)
		}
	}
	return s.keep(rest)
}

// living are the sessions that have not expired, oldest first. s.mu is held.
func (s *sessions) living(now time.Time) []session {
	var list []session
	for _, one := range s.list {
		if now.Before(one.Expires) {
			list = append(list, one)
		}
	}
	return list
}

// keep writes the table, and uses it once it is written. s.mu is held.
func (s *sessions) keep(list []session) error {
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := writePrivate(filepath.Join(s.dir, sessionsName), data); err != nil {
		return err
	}
	s.list = list
	return nil
}

// close removes the link, which nobody answers any more.
func (s *sessions) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = rand.Text()
	if err := os.Remove(s.linkFile()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writePrivate replaces a file that only this user reads: whole, or not at all.
func writePrivate(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// hashOf is what is compared and kept in place of a secret, so that the time
// that comparing takes tells nothing about it.
func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func same(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
