package fileskills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// startJournal opens the journal of the set's root, and deals with what was
// left in it.
func (s *Set) startJournal(c Config) (err error) {
	root := ""
	if c.Resolver != nil {
		root = c.Resolver.Root()
	}
	if s.journal, err = openJournal(c.StateDir, root); err != nil {
		return err
	}
	return s.journal.recoverNow(s.fs)
}

// recover rolls back, or finishes, every patch that was left half done. The
// caller has the lock. A journal that cannot be dealt with stays, and is an
// error: half a patch must not go unnoticed.
func (j *journal) recover(f FS) error {
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == filepath.Base(j.lock):
		case !strings.HasSuffix(name, undoSuffix) && !strings.HasSuffix(name, redoSuffix):
			if err := os.Remove(filepath.Join(j.dir, name)); err != nil { // its patch had not begun
				return err
			}
		default:
			t, redo, err := readTransaction(j.dir, name)
			if err == nil && redo {
				_, err = t.redo(context.Background(), f)
			} else if err == nil {
				err = t.undo(f)
			}
			if err == nil {
				err = t.end()
			}
			if err != nil {
				return fmt.Errorf("fileskills: a patch that was interrupted could not be rolled back: %w (its journal, with the old contents, is %s)", err, filepath.Join(j.dir, name))
			}
		}
	}
	return nil
}

// undo puts back what the patch has written, as far as it still is what the
// patch wrote: what somebody else has changed since is theirs. It is not
// interrupted, for then half the patch would stay.
func (t *transaction) undo(f FS) error {
	ctx := context.Background()
	var errs []error
	for _, w := range slices.Backward(t.Writes) {
		var err error
		if w.Old == nil {
			err = removeIf(ctx, f, w.Place, w.New)
		} else {
			err = t.restore(ctx, f, w)
		}
		if err != nil && !errors.Is(err, errMoved) {
			errs = append(errs, err)
		}
	}
	for _, dir := range slices.Backward(t.Dirs) {
		_ = f.Remove(dir) // one that is not empty stays
	}
	return errors.Join(errs...)
}

// restore gives a file its old content again.
func (t *transaction) restore(ctx context.Context, f FS, w recordWrite) error {
	rep, err := replaceAt(f, w.Place)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	if err != nil {
		return err
	}
	defer rep.Close()
	if is, err := hasContent(ctx, rep.Old(), w.New); err != nil || !is {
		return errors.Join(err, sweep(ctx, rep))
	}
	if err := writeWhole(ctx, rep, w.old); err != nil {
		return err
	}
	return commitOver(ctx, rep, w.New)
}

// redo removes the files that the patch was still to remove. kept are places
// of those that somebody has changed in between.
func (t *transaction) redo(ctx context.Context, f FS) (kept []string, err error) {
	var errs []error
	for _, r := range t.Removals {
		switch err := removeIf(ctx, f, r.Place, r.Old); {
		case errors.Is(err, errMoved):
			kept = append(kept, r.Place)
		case err != nil:
			errs = append(errs, err)
		}
	}
	return kept, errors.Join(errs...)
}

// removeIf removes a file if it holds this content, and fails with errMoved if
// it holds another. A file that is not there is as it should be.
func removeIf(ctx context.Context, f FS, place string, want digest) error {
	rep, err := replaceAt(f, place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer rep.Close()
	// Removed under the lock that a commit has, so that no writer who respects
	// it comes between the look and the removal; then there is nothing to commit.
	outcome := errMoved
	err = rep.Commit(ctx, func(now File) error {
		is, err := hasContent(ctx, now, want)
		switch {
		case err != nil:
			outcome = err
		case is:
			outcome = f.Remove(place)
		}
		return errNothing
	})
	if err != nil && !errors.Is(err, errNothing) && outcome == errMoved {
		return err
	}
	return outcome
}

// replaceAt is Replace of the plain file at a place. What else somebody has put
// there or on the way, a directory, a FIFO or a link, is theirs, and errMoved:
// it is nothing that the patch wrote, and no reason to fail at each start.
func replaceAt(f FS, place string) (Replacement, error) {
	info, err := f.Lstat(place)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errMoved
	}
	var rep Replacement
	if err == nil {
		rep, err = f.Replace(place, ReplaceOptions{MustExist: true})
	}
	var d *pathresolver.DeniedError
	switch {
	case err == nil && rep.Place() != place:
		rep.Close()
		return nil, errMoved
	case err == nil:
		return rep, nil
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fs.ErrNotExist
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ELOOP):
		return nil, errMoved
	case errors.As(err, &d) && slices.Contains(strangers, d.Rule):
		return nil, errMoved
	}
	return nil, err
}

// strangers are the rules that refuse for what stands at a place, not for the
// place itself.
var strangers = []access.Code{pathresolver.RuleSymlinkEscape, pathresolver.RuleMagicLink, pathresolver.RuleSpecialFile}

// errNothing ends a commit that was not meant to put anything in place.
var errNothing = errors.New("nothing to commit")

// sweep gives the FS the occasion to clear away what a killed writer left
// beside the file.
func sweep(ctx context.Context, rep Replacement) error {
	err := rep.Commit(ctx, func(File) error { return errNothing })
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// commitOver commits over a file that holds this content, else errMoved.
func commitOver(ctx context.Context, rep Replacement, want digest) error {
	moved := false
	err := rep.Commit(ctx, func(now File) error {
		is, err := hasContent(ctx, now, want)
		if err == nil && !is {
			moved, err = true, errMoved
		}
		return err
	})
	if moved {
		return errMoved
	}
	return err
}

// hasContent reports whether a file, nil for none, holds this content.
func hasContent(ctx context.Context, f File, want digest) (bool, error) {
	if f == nil {
		return false, nil
	}
	info, err := f.Stat()
	if err != nil || info.Size() != want.Size {
		return false, err
	}
	sum := sha256.New()
	buf := make([]byte, min(want.Size+1, 256<<10))
	for at := int64(0); at <= want.Size; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := f.ReadAt(buf, at)
		sum.Write(buf[:n])
		at += int64(n)
		if err == io.EOF {
			return at == want.Size && hex.EncodeToString(sum.Sum(nil)) == want.Hash, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil // it grew
}
