package leftlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// What runs left is remembered in a file each, of this user alone, and only where
// something was left. The oldest go when there are more than so many.
const (
	keptLeft     = 100
	maxLeftBytes = 16 << 20 // of a file that is read: more than one has
)

// Record is what one run left.
type Record struct {
	Run     string          `json:"run"`
	Root    string          `json:"root"` // the project
	Command string          `json:"command"`
	Ended   string          `json:"ended"`
	Items   []leftover.Item `json:"items"`
	Omitted uint64          `json:"omitted"`
}

var errNoState = errors.New("this user has no state directory")

// leftDir is where they lie.
func leftDir() (string, error) {
	dir, err := state.LeftDir()
	if err != nil {
		return "", errNoState
	}
	return dir, nil
}

// saveLeft keeps a record under its run's name, or a new one, which it returns.
func saveLeft(record Record) (name string, err error) {
	dir, err := leftDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if hostpath.Unreachable(err) {
			err = errNoState
		}
		return "", err
	}
	var f *os.File
	if record.Run != "" {
		f, err = os.OpenFile(filepath.Join(dir, record.Run), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	} else {
		f, err = os.CreateTemp(dir, time.Now().UTC().Format(state.RunTime)+"-")
	}
	if err != nil {
		return "", err
	}
	name = filepath.Base(f.Name())
	record.Run = name
	if err = errors.Join(json.NewEncoder(f).Encode(record), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	names, err := leftNames(dir)
	for i := 0; err == nil && i < len(names)-keptLeft; i++ {
		if err = os.Remove(filepath.Join(dir, names[i])); errors.Is(err, fs.ErrNotExist) {
			err = nil // by another run
		}
	}
	return name, err
}

// leftNames are the names of what is remembered, the oldest first.
func leftNames(dir string) (names []string, err error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range list {
		if _, err := state.StartOf(entry.Name()); err == nil && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// readLeft reads a record.
func readLeft(dir, name string) (record Record, err error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return record, err
	}
	defer func() { _ = f.Close() }() // was only read
	err = json.NewDecoder(io.LimitReader(f, maxLeftBytes)).Decode(&record)
	if err != nil {
		err = fmt.Errorf("the record of '%s': %w", name, err)
	}
	record.Run = name
	return record, err
}

// leftNamed is the record of a run.
func leftNamed(name string) ([]Record, error) {
	dir, err := leftDir()
	if err != nil {
		return nil, err
	}
	_, err = state.StartOf(name)
	if err == nil && filepath.Base(name) == name {
		record, err := readLeft(dir, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return []Record{record}, err
		}
	}
	hint := "nothing is remembered of any run"
	if names, err := leftNames(dir); err == nil && len(names) > 0 {
		hint = "the latest is " + names[len(names)-1]
	}
	return nil, &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("nothing is remembered that a run '%s' left", pathresolver.EscapePath(name)), Hint: hint}
}

// leftIn are the records of the project of which dir is a directory, the latest
// run first.
func leftIn(dir string) (records []Record, err error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, err
	}
	kept, err := leftDir()
	if errors.Is(err, errNoState) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := leftNames(kept)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(names) {
		record, err := readLeft(kept, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the oldest may go at any time
		}
		if err != nil {
			return nil, err
		}
		_, above := hostpath.Beneath(real, record.Root)
		_, beneath := hostpath.Beneath(record.Root, real)
		if above || beneath {
			records = append(records, record)
		}
	}
	return records, nil
}

// isLeft reports whether an item is still what it was, as far as its type says.
func isLeft(i leftover.Item) bool {
	info, err := os.Lstat(i.Path)
	if err != nil {
		return errors.Is(err, fs.ErrPermission) // it cannot be said
	}
	switch mode := info.Mode(); i.Kind {
	case leftover.Link:
		return mode&fs.ModeSymlink != 0
	case leftover.FIFO:
		return mode&fs.ModeNamedPipe != 0
	case leftover.Socket:
		return mode&fs.ModeSocket != 0
	case leftover.Executable:
		return mode.IsRegular() && mode&0o111 != 0
	}
	return true
}

// stillLeft takes out what is gone, and what a later run left at the same path:
// sendRecords come with the latest first.
func stillLeft(records []Record) []Record {
	told := map[string]bool{}
	for n := range records {
		items := []leftover.Item{}
		for _, i := range records[n].Items {
			key := string(i.Kind) + " " + i.Path
			if !told[key] && isLeft(i) {
				items = append(items, i)
			}
			told[key] = true
		}
		records[n].Items = items
	}
	return slices.DeleteFunc(records, func(r Record) bool { return len(r.Items) == 0 && r.Omitted == 0 })
}

// latestLeft are the names of what is remembered, for completion.
func latestLeft(prefix string) (names []string) {
	dir, err := leftDir()
	if err != nil {
		return nil
	}
	all, _ := leftNames(dir) // without them nothing is completed
	for _, name := range slices.Backward(all) {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}
