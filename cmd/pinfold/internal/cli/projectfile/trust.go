package projectfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
)

// Trusted is what is kept of a file that its user trusts.
type Trusted struct {
	Dir  string    `json:"dir"` // the project, absolute and without links
	ID   string    `json:"id"`  // of that directory
	Sum  string    `json:"sha256"`
	Time time.Time `json:"time"`
}

const (
	maxRecord  = 64 << 10 // bytes of a record that are read
	maxRecords = 10_000   // that are listed
)

// store is the directory of the records, one for each project. It lies in pinfold's
// state, which no run sees.
func store() (string, error) {
	runs, err := state.RunsDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(runs), "trust"), nil
}

// record is the name of a project's record.
func record(dir string) (string, error) {
	at, err := store()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(at, hex.EncodeToString(sum[:])+".json"), nil
}

// readRecord reads a record that this user alone could have written, in a directory of
// which the same is true, and to which no link of a run's leads.
func readRecord(name string) (t Trusted, err error) {
	dir, err := os.Stat(filepath.Dir(name))
	if err == nil {
		err = ownAlone(dir)
	}
	if err != nil {
		return t, err
	}
	file, err := hostfile.Open("the record", name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return t, err
	}
	info, err := file.Stat()
	if err == nil {
		err = ownAlone(info)
	}
	if err != nil {
		return t, errors.Join(err, file.Close())
	}
	data, err := readBounded(file, maxRecord)
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	return t, err
}

// State is whether a file is trusted.
type State int

// The states of a file: only Agreed widens.
const (
	Unknown State = iota // nobody ever trusted it
	Changed              // its content, or the directory, is another one since
	Agreed
)

// State looks whether the user trusts these bytes in this directory. A record that
// cannot be read trusts nothing, and is an error.
func (f *File) State() (State, error) {
	name, err := record(f.Dir)
	if err != nil {
		return Unknown, nil // there is no state: nothing was ever kept
	}
	t, err := readRecord(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Unknown, nil
	case err != nil:
		return Unknown, fmt.Errorf("what is trusted cannot be read: %w", err)
	case t.Dir != f.Dir:
		return Unknown, nil
	case t.Sum != f.Sum || t.ID != f.id:
		return Changed, nil
	}
	return Agreed, nil
}

// Trust remembers that the user trusts these bytes in this directory.
func (f *File) Trust() error {
	name, err := record(f.Dir)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	if err := hostfile.Refuse("the record", dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err == nil {
		err = ownAlone(info)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", dir, err)
	}
	data, err := json.Marshal(Trusted{Dir: f.Dir, ID: f.id, Sum: f.Sum, Time: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "new-") // mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // nothing reads it
	}
	return err
}

// Revoke forgets that a project's file is trusted. dir is absolute and without links; it
// need not exist. It reports whether there was something to forget.
func Revoke(dir string) (bool, error) {
	name, err := record(dir)
	if err != nil {
		return false, err
	}
	err = os.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List is what is kept, in the order of the names of the records.
func List() ([]Trusted, error) {
	at, err := store()
	if err != nil {
		return nil, err
	}
	dir, err := os.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // only read
	names, err := dir.Readdirnames(maxRecords)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.Sort(names)
	var list []Trusted
	for _, name := range names {
		if filepath.Ext(name) != ".json" {
			continue
		}
		if t, err := readRecord(filepath.Join(at, name)); err == nil {
			list = append(list, t)
		}
	}
	return list, nil
}
