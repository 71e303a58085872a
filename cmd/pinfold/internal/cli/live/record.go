package live

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Record is what is told of a run. It lies in the run's directory.
type Record struct {
	ID         string         `json:"id"`
	Name       string         `json:"name,omitempty"` // as the user calls it
	Started    string         `json:"started"`
	PID        int            `json:"pid,omitempty"` // of pinfold; filled in while it runs
	Root       cli.PathText   `json:"root"`
	WritePaths []cli.PathText `json:"write_paths"`
	Command    string         `json:"command"`
	App        string         `json:"app,omitempty"`   // the launch profile
	Ended      string         `json:"ended,omitempty"` // "" also after kill -9
	Code       int            `json:"code,omitempty"`
}

// Change is what a user adds to the rules of a run that goes on.
type Change struct {
	Write []cli.PathText `json:"write,omitempty"` // write paths, as 'pinfold run -w' has them
	Hide  []cli.PathText `json:"hide,omitempty"`  // globs, as 'pinfold run --hide' has them
}

// Changed is what came of it.
type Changed struct {
	WritePaths []cli.PathText `json:"write_paths,omitempty"` // all of them
	Open       []cli.PathText `json:"open,omitempty"`        // files that are hidden, and stay open to who has them open; at most maxTold
	More       int            `json:"more,omitempty"`        // how many more there are
	Untold     string         `json:"untold,omitempty"`      // why it could not be shown inside
}

// The files of a run's directory.
const (
	recordFile = "run.json"
	ReportFile = "report.jsonl"
	socketFile = "control"
)

// maxRecord bounds a record that is read, in bytes.
const maxRecord = 4 << 20

// goodName is a name for a run: one word, and no path.
var goodName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_.-]{0,62}$`) })

// CheckName refuses a name that no run can have.
func CheckName(name string) error {
	if !goodName().MatchString(name) {
		return cli.UsageError(fmt.Errorf("no run can be called %q", name), "take a letter, and then at most 62 letters, digits, '_', '.' or '-'")
	}
	return nil
}

// privateDir is where records lie, once it was seen to be this user's alone. It is
// fs.ErrNotExist where there was never a run.
func privateDir() (string, error) {
	dir, err := state.LogDir()
	if err != nil {
		return "", fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return dir, checkOwn(dir)
}

// records are those of all runs, the oldest first.
func records() (list []Record, err error) {
	dir, err := privateDir()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if _, err := state.StartOf(e.Name()); err != nil || !e.IsDir() {
			continue
		}
		r, err := readRecord(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it begins, or is being removed
		}
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b Record) int { return strings.Compare(a.Started, b.Started) })
	return list, nil
}

func readRecord(dir string) (r Record, err error) {
	data, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err == nil && len(data) > maxRecord {
		err = errors.New("it is too large")
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("the record of run '%s': %w", filepath.Base(dir), err)
	}
	r.ID = filepath.Base(dir)
	return r, nil
}

// write replaces the record in dir.
func (r *Record) write(dir string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	next := filepath.Join(dir, recordFile+".new")
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(dir, recordFile))
}

// Called is the name of the run: that of --name, or else its agent's; "" for none.
func (r *Record) Called() string { return cmp.Or(r.Name, r.App) }

// Is reports whether word names the run: by its id, what follows the time in it, or its
// name.
func (r *Record) Is(word string) bool {
	_, tail, _ := strings.Cut(r.ID, "-")
	return word != "" && (word == r.ID || word == tail || word == r.Called())
}

// Find is the run that word names: of those that go on, or else the latest that has ended.
func Find(word string) (Record, error) {
	all, err := records()
	if err != nil {
		return Record{}, err
	}
	all = slices.DeleteFunc(all, func(r Record) bool { return !r.Is(word) })
	if len(all) > 1 {
		if going := slices.DeleteFunc(slices.Clone(all), func(r Record) bool { return !r.goesOn() }); len(going) > 0 {
			all = going
			if len(going) > 1 {
				return Record{}, several(word, going)
			}
		}
	}
	if len(all) == 0 {
		return Record{}, unknown(word)
	}
	return all[len(all)-1], nil
}

func several(word string, of []Record) error {
	var ids []string
	for _, r := range of {
		ids = append(ids, r.ID)
	}
	return &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("%d runs are called '%s': which one is meant?", len(of), pathresolver.EscapePath(word)), Hint: strings.Join(ids, ", ")}
}

func unknown(word string) error {
	return &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("there is no run '%s'", pathresolver.EscapePath(word)), Hint: "'pinfold ps' lists what runs, 'pinfold ps --all' also what has ended"}
}

// Report is the file with the lines of a run's report, which the caller closes.
func (r *Record) Report() (*os.File, error) {
	dir, err := privateDir()
	if err != nil {
		return nil, err
	}
	return os.Open(filepath.Join(dir, r.ID, ReportFile))
}

// GoesOn reports whether the run goes on.
func (r *Record) GoesOn() bool { return r.goesOn() }

// Again is the record as it is now.
func (r *Record) Again() (Record, error) {
	dir, err := privateDir()
	if err != nil {
		return Record{}, err
	}
	return readRecord(filepath.Join(dir, r.ID))
}

// List is what runs, or, with all, also what has ended and is remembered: the oldest first.
// What a run that was killed has left of its socket is removed.
func List(all bool) ([]Record, error) {
	list, err := records()
	if err != nil {
		return nil, err
	}
	shown := list[:0]
	for _, r := range list {
		if r.Ended == "" && r.goesOn() || all {
			shown = append(shown, r)
		}
	}
	return shown, nil
}

// Names are the names of runs, for completion: ids, and what users call them.
func Names(all bool) (names []string) {
	list, _ := List(all) // without it nothing is completed
	for _, r := range slices.Backward(list) {
		if name := r.Called(); name != "" {
			names = append(names, name)
		}
		names = append(names, r.ID)
	}
	return names
}
