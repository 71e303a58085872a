package skills

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

const (
	tokenBytes = 32   // of randomness in a token of ours
	tokenLeast = 20   // characters of one that somebody else made
	tokenMost  = 4096 // bytes of a token file
)

// bearerToken reads the token that clients of --http send, or makes one. A
// file that others may read is refused, as is one beneath the directory that
// it guards, where the skills themselves would show it.
func bearerToken(file string, r *pathresolver.Resolver) (token string, made bool, err error) {
	if err = hostfile.Refuse("--token-file", file); err == nil {
		err = makeParents(file, r.Root())
	}
	if err == nil {
		token, err = makeToken(file)
	}
	if made = err == nil; !made && errors.Is(err, fs.ErrExist) {
		token, err = readToken(file)
	}
	if err == nil {
		err = outsideRoot(file, r.Root())
		if err != nil && made {
			err = errors.Join(err, os.Remove(file))
		}
	}
	if err != nil {
		return "", false, &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("token file %q: %w", file, err), Hint: tokenHint(err)}
	}
	return token, made, nil
}

var (
	errTokenOpen   = errors.New("others may read or write it")
	errTokenWeak   = fmt.Errorf("want one line of %d or more letters, digits and signs", tokenLeast)
	errTokenInside = errors.New("lies beneath the directory that it guards")
)

func tokenHint(err error) string {
	switch {
	case errors.Is(err, errTokenOpen):
		return "chmod 600"
	case errors.Is(err, errTokenWeak):
		return "remove it, and a good one is made"
	case errors.Is(err, errTokenInside):
		return "keep it elsewhere"
	}
	return ""
}

// makeParents makes the directories that the file is to lie in, for this user
// alone; none beneath root.
func makeParents(file, root string) error {
	dir := filepath.Dir(file)
	there := dir
	for {
		_, err := os.Stat(there)
		if err == nil {
			break
		}
		if up := filepath.Dir(there); errors.Is(err, fs.ErrNotExist) && up != there {
			there = up
			continue
		}
		return err
	}
	if there == dir {
		return nil
	}
	if err := outsideRoot(there, root); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// makeToken makes a file with a new token; fs.ErrExist where there is one.
func makeToken(file string) (token string, err error) {
	f, err := hostfile.Open("--token-file", file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails
	token = base64.RawURLEncoding.EncodeToString(raw)
	_, err = io.WriteString(f, token+"\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file))
	}
	return token, nil
}

// readToken looks at the file that it opened, so that another cannot take its
// place in between, and does not wait for a FIFO.
func readToken(file string) (string, error) {
	f, err := hostfile.Open("--token-file", file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was read only
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", errTokenOpen
	}
	data, err := io.ReadAll(io.LimitReader(f, tokenMost+1))
	if err != nil {
		return "", err
	}
	token := strings.TrimRight(string(data), "\r\n")
	isSign := func(c rune) bool { return c > ' ' && c < 0x7f }
	if len(token) < tokenLeast || len(data) > tokenMost || strings.TrimFunc(token, isSign) != "" {
		return "", errTokenWeak
	}
	return token, nil
}

// outsideRoot refuses a file that the skills can read.
func outsideRoot(file, root string) error {
	real, err := filepath.EvalSymlinks(file)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
		return errTokenInside
	}
	return nil
}
