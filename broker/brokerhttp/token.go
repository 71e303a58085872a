package brokerhttp

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/broker"
)

const (
	tokenBytes = 32  // of randomness
	tokenMost  = 512 // bytes of a token file that are read
)

// tokens are what identifies a connection over TCP: one for each identity, in
// a file of its own that only this user reads. The server keeps their hashes.
type tokens struct {
	dir string

	mu sync.Mutex
	by map[[sha256.Size]byte]broker.Identity
}

func openTokens(dir string) (*tokens, error) {
	if err := privateDir(dir); err != nil {
		return nil, err
	}
	return &tokens{dir: dir, by: map[[sha256.Size]byte]broker.Identity{}}, nil
}

// file is where an identity's token stands.
func (t *tokens) file(who broker.Identity) string {
	if who.Operator() {
		return filepath.Join(t.dir, "operator")
	}
	return filepath.Join(t.dir, "agent-"+who.AgentID())
}

// admit reads or makes an identity's token, and honours it from now on.
func (t *tokens) admit(who broker.Identity) error {
	file := t.file(who)
	token, err := ReadToken(file)
	if errors.Is(err, fs.ErrNotExist) {
		token, err = makeToken(file)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.by[sha256.Sum256([]byte(token))] = who
	return nil
}

// forget ends what an agent's token is good for.
func (t *tokens) forget(who broker.Identity) error {
	t.mu.Lock()
	for hash, of := range t.by {
		if of == who {
			delete(t.by, hash)
		}
	}
	t.mu.Unlock()
	if err := os.Remove(t.file(who)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// of says whose token a request has. What is looked up and compared is a hash,
// so the time that it takes tells nothing about the token.
func (t *tokens) of(r *http.Request) broker.Identity {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return broker.Identity{}
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return broker.Identity{}
	}
	got := sha256.Sum256([]byte(token))
	t.mu.Lock()
	defer t.mu.Unlock()
	for want, who := range t.by {
		if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			return who
		}
	}
	return broker.Identity{}
}

func makeToken(file string) (string, error) {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails
	token := base64.RawURLEncoding.EncodeToString(raw)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(f, token+"\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file))
	}
	return token, nil
}

// ReadToken reads a token file, one line that nobody else may read.
func ReadToken(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was read only
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("token file %q: others may read it, or it is no file: chmod 600", file)
	}
	data, err := io.ReadAll(io.LimitReader(f, tokenMost))
	if err != nil {
		return "", err
	}
	token := strings.TrimRight(string(data), "\r\n")
	if len(token) < 20 || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return "", fmt.Errorf("token file %q holds no token", file)
	}
	return token, nil
}
