package fileskills

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// journal remembers, outside the root, how to undo or to finish a patch of
// several files that a killed process left half done.
//
// A patch has one file there, under a random name. While it is called *.undo
// nothing has been removed yet, and what was written can be put back. When all
// is written it is renamed to *.redo, and what remains is to remove files; that
// is finished, not undone, since a file that is made again would not be the
// same. At the end it is removed. Whoever holds the lock knows that every
// journal in the directory was left behind.
type journal struct {
	dir  string
	lock string // a file in dir
}

const (
	undoSuffix = ".undo"
	redoSuffix = ".redo"
	// maxJournal bounds what is read back: the contents of a patch and a header.
	maxJournal = 2*maxPatchContent + 1<<20
)

// record is what a journal says.
type record struct {
	Version  int
	Root     string // for whoever reads it
	Writes   []recordWrite
	Removals []recordRemoval
	Dirs     []string // places of directories that the patch makes, parents first
}

// recordWrite is a file that is made or replaced.
type recordWrite struct {
	Place string
	Old   *digest // nil: there was none
	New   digest
	old   []byte // follows the header in the journal
}

// recordRemoval is a file that goes away.
type recordRemoval struct {
	Place string
	Old   digest
}

// digest tells contents apart.
type digest struct {
	Size int64
	Hash string
}

func digestOf(ctx context.Context, raw []byte) (digest, error) {
	hash, err := hashSoon(ctx, raw)
	return digest{int64(len(raw)), hash}, err
}

// openJournal makes the directory for the journals of one root.
func openJournal(stateDir, root string) (*journal, error) {
	if !filepath.IsAbs(stateDir) {
		return nil, fmt.Errorf("fileskills: StateDir %q must be an absolute path", stateDir)
	}
	if root != "" {
		var err error
		if root, err = filepath.EvalSymlinks(root); err != nil {
			return nil, fmt.Errorf("fileskills: root: %w", err)
		}
	}
	// Once before, so that nothing is made in the root, and for good after.
	if err := outsideRoot(root, stateDir, whereItWillBe(stateDir)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("fileskills: StateDir: %w", err)
	}
	real, err := filepath.EvalSymlinks(stateDir)
	if err != nil {
		return nil, fmt.Errorf("fileskills: StateDir: %w", err)
	}
	if err := outsideRoot(root, stateDir, real); err != nil {
		return nil, err
	}
	key := sha256.Sum256([]byte(root))
	j := &journal{dir: filepath.Join(real, "patches-"+hex.EncodeToString(key[:8]))}
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return nil, fmt.Errorf("fileskills: StateDir: %w", err)
	}
	if err := onlyOurs(j.dir); err != nil {
		return nil, fmt.Errorf("fileskills: StateDir: %q: %w", j.dir, err)
	}
	j.lock = filepath.Join(j.dir, "lock")
	return j, nil
}

// whereItWillBe is the real path of a directory that may not exist yet: that of
// its nearest ancestor that does, and the rest.
func whereItWillBe(dir string) string {
	for at, rest := dir, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil || at == filepath.Dir(at) {
			return filepath.Join(real, rest)
		}
	}
}

// outsideRoot refuses a state directory that really lies in the root; "" is no
// root.
func outsideRoot(root, stateDir, real string) error {
	rel, err := filepath.Rel(root, real)
	if root == "" || err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil
	}
	return fmt.Errorf("fileskills: StateDir %q lies inside the root, where the patches are", stateDir)
}

// acquire waits until no other patch of this root is under way, in this
// process or another, and rolls back or finishes what one left.
func (j *journal) acquire(ctx context.Context, f FS) (release func(), err error) {
	const poll = 5 * time.Millisecond
	lock := flock.New(j.lock)
	if ok, err := lock.TryLockContext(ctx, poll); !ok {
		return nil, err
	}
	release = func() { _ = lock.Close() } // which unlocks
	if err := j.recover(f); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// recoverNow rolls back or finishes what was left, unless a patch is under
// way: then nothing was left.
func (j *journal) recoverNow(f FS) error {
	lock := flock.New(j.lock)
	ok, err := lock.TryLock()
	if err != nil || !ok {
		return err
	}
	defer func() { _ = lock.Close() }()
	return j.recover(f)
}

// transaction is a patch that is under way, or was left.
type transaction struct {
	record
	dir, name string
}

// begin writes the journal of a patch. When it returns it is on the disk.
func (j *journal) begin(ctx context.Context, r record) (*transaction, error) {
	t := &transaction{record: r, dir: j.dir, name: rand.Text()}
	f, err := os.OpenFile(t.path(""), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = f.Close()
		if err != nil {
			_ = os.Remove(t.path(""))
		}
	}()
	r.Version = 1
	head, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(append(head, '\n')); err != nil {
		return nil, err
	}
	for _, w := range r.Writes {
		if err = writeWhole(ctx, f, w.old); err != nil {
			return nil, err
		}
	}
	if err = syncSoon(ctx, f); err != nil {
		return nil, err
	}
	if err = f.Close(); err != nil {
		return nil, err
	}
	if err = t.become("", undoSuffix); err != nil {
		return nil, err
	}
	return t, nil
}

// syncSoon brings a file to the disk, and does not wait for it once ctx is done.
func syncSoon(ctx context.Context, f *os.File) error {
	done := make(chan error, 1)
	go func() { done <- f.Sync() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *transaction) path(suffix string) string { return filepath.Join(t.dir, t.name+suffix) }

// become renames the journal, durably.
func (t *transaction) become(from, to string) error {
	if err := os.Rename(t.path(from), t.path(to)); err != nil {
		return err
	}
	return syncDir(t.dir)
}

// writesDone is the point from which the patch is finished, not undone.
func (t *transaction) writesDone() error { return t.become(undoSuffix, redoSuffix) }

// end forgets the patch: everything is done, or undone.
func (t *transaction) end() error {
	err := os.Remove(t.path(undoSuffix))
	if errors.Is(err, os.ErrNotExist) {
		err = os.Remove(t.path(redoSuffix))
	}
	return errors.Join(err, syncDir(t.dir))
}

// readTransaction reads a journal that was left.
func readTransaction(dir, file string) (t *transaction, redo bool, err error) {
	t = &transaction{dir: dir}
	name, redo := strings.CutSuffix(file, redoSuffix)
	t.name = strings.TrimSuffix(name, undoSuffix)
	f, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	in := bufio.NewReader(io.LimitReader(f, maxJournal))
	head, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(bytes.TrimSpace(head), &t.record)
	}
	if err == nil && t.Version != 1 {
		err = fmt.Errorf("unknown version %d", t.Version)
	}
	if err != nil {
		return nil, false, err
	}
	for i := range t.Writes {
		w := &t.Writes[i]
		if w.Old == nil {
			continue
		}
		if w.Old.Size < 0 || w.Old.Size > maxEditBytes {
			return nil, false, errors.New("it is damaged")
		}
		w.old = make([]byte, w.Old.Size)
		if _, err := io.ReadFull(in, w.old); err != nil {
			return nil, false, err
		}
		if hashOf(w.old) != w.Old.Hash {
			return nil, false, errors.New("it is damaged")
		}
	}
	return t, redo, nil
}
