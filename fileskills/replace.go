package fileskills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"strings"
)

// maxStaleReplace is how often a call begins anew because a link on the way
// led elsewhere meanwhile.
const maxStaleReplace = 8

// replace decides about a file and takes its lock. Who had to wait opens it
// again, since what it holds may be what the file was.
func (c *call) replace(ctx context.Context, unsafePath string, o ReplaceOptions) (rep Replacement, unlock func(), err error) {
	for range maxStaleReplace {
		if rep, err = c.fs.Replace(unsafePath, o); err != nil {
			return nil, nil, err
		}
		place := rep.Place()
		unlock, waited, err := c.set.locks.lock(ctx, place)
		if err != nil {
			rep.Close()
			return nil, nil, err
		}
		if !waited {
			return rep, unlock, nil
		}
		rep.Close()
		rep, err = c.fs.Replace(unsafePath, o)
		if err == nil && rep.Place() == place {
			return rep, unlock, nil
		}
		unlock()
		if err != nil {
			return nil, nil, err
		}
		rep.Close()
	}
	return nil, nil, fail(CodeStaleFile, unsafePath, "%s keeps leading elsewhere. Nothing was changed.", shown(unsafePath))
}

// oldContent is what is known of the content that a call replaces.
type oldContent struct {
	raw  []byte // nil where there is none, or too much to compare
	hash string // "" where nobody asked
}

// oldContent reads what a whole new content replaces, and asks the guard and
// the caller's expectation about it.
func (c *call) oldContent(ctx context.Context, rep Replacement, unsafePath, expected string) (old oldContent, warning string, err error) {
	f := rep.Old()
	if f == nil {
		if expected != "" {
			return old, "", stale(unsafePath, expected, "")
		}
		return old, "", nil
	}
	info, err := f.Stat()
	if err != nil {
		return old, "", err
	}
	if info.Size() <= maxDiffInput {
		if old.raw, err = readWhole(ctx, f, shown(unsafePath)); err != nil {
			return old, "", err
		}
	}
	if expected == "" && (c.set.guard == GuardOff || c.set.guard == GuardChanged && c.known(rep.Place()) == "") {
		return old, "", nil
	}
	if old.hash, err = hashFile(ctx, f); err != nil {
		return old, "", err
	}
	if expected != "" && !strings.EqualFold(expected, old.hash) {
		return old, "", stale(unsafePath, expected, old.hash)
	}
	if expected != "" && c.set.guard == GuardChanged {
		return old, "", nil // the caller says what it knows
	}
	warning, err = c.checkSeen(rep.Place(), old.hash)
	return old, warning, err
}

// still compares, under the lock of the commit, what is there with what was
// decided about. Where neither the guard nor the caller expects anything, the
// last who writes wins.
func (o oldContent) still(ctx context.Context, unsafePath string) func(File) error {
	if o.hash == "" {
		return nil
	}
	return func(now File) error {
		hash := ""
		if now != nil {
			var err error
			if hash, err = hashFile(ctx, now); err != nil {
				return err
			}
		}
		if hash != o.hash {
			return stale(unsafePath, o.hash, hash)
		}
		return nil
	}
}

// hashFile is hashOf of a file of any size.
func hashFile(ctx context.Context, f File) (string, error) {
	h, err := hashing(ctx, f)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashing is hashFile, to be gone on with.
func hashing(ctx context.Context, f File) (hash.Hash, error) {
	h := sha256.New()
	buf := make([]byte, 256<<10)
	for at := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := f.ReadAt(buf, at)
		h.Write(buf[:n])
		at += int64(n)
		if err == io.EOF {
			return h, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// unchanged reports whether a file is the one that was looked at before, of the
// same size and time. A file in memory has no identity to be compared.
func unchanged(was, now fs.FileInfo) bool {
	same := was.Sys() == nil && now.Sys() == nil || sameFile(was, now)
	return same && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())
}

// stillLike is the question of a commit whose content was made from a file too
// large to be compared.
func stillLike(was fs.FileInfo) func(File) error {
	return func(now File) error {
		if now == nil || was == nil {
			if (now == nil) == (was == nil) {
				return nil
			}
			return errMoved
		}
		info, err := now.Stat()
		if err == nil && !unchanged(was, info) {
			err = errMoved
		}
		return err
	}
}

// isMissing reports whether an error says that something is not there.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
