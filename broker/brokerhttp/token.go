package brokerhttp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
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

// tokenMost is how many bytes of a token file are read.
const tokenMost = 512

// tokens are what identifies a connection over TCP: one for each agent, whose
// hash the broker has, and one for the operator. Each stands in a file of its
// own that only this user reads.
type tokens struct {
	dir string
	b   *broker.Broker

	mu       sync.Mutex
	operator [sha256.Size]byte // hash of its token; zero before there is one
}

func openTokens(dir string, b *broker.Broker) (*tokens, error) {
	if err := privateDir(dir); err != nil {
		return nil, err
	}
	return &tokens{dir: dir, b: b}, nil
}

// file is where the token of an agent stands, or the operator's for "".
func (t *tokens) file(id string) string {
	if id == "" {
		return filepath.Join(t.dir, "operator")
	}
	return filepath.Join(t.dir, "agent-"+id)
}

// admit makes an agent's token, unless it has one.
func (t *tokens) admit(ctx context.Context, id string) error {
	file := t.file(id)
	if _, err := readToken(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	token, err := t.b.NewToken(ctx, broker.OperatorIdentity(), id)
	if err != nil {
		return err
	}
	return writeToken(file, token)
}

// admitOperator reads or makes the operator's token, and honours it from now on.
func (t *tokens) admitOperator() error {
	file := t.file("")
	token, err := readToken(file)
	if errors.Is(err, fs.ErrNotExist) {
		token = rand.Text()
		err = writeToken(file, token)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.operator = sha256.Sum256([]byte(token))
	return nil
}

// forget removes the file of a token that is good for nothing any more.
func (t *tokens) forget(id string) error {
	if err := os.Remove(t.file(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// of says whose token a request has; nobody's is refused. What is compared is a
// hash, so the time that it takes tells nothing about a token.
func (t *tokens) of(r *http.Request) broker.Identity {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return broker.Identity{}
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return broker.Identity{}
	}
	t.mu.Lock()
	want := t.operator
	t.mu.Unlock()
	got := sha256.Sum256([]byte(token))
	if want != ([sha256.Size]byte{}) && subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
		return broker.OperatorIdentity()
	}
	who, err := t.b.ByToken(r.Context(), token)
	if err != nil {
		return broker.Identity{}
	}
	return who
}

// writeToken writes a token file that was not there.
func writeToken(file, token string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, token+"\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// readToken reads a token file, one line that nobody else may read.
func readToken(file string) (string, error) {
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
