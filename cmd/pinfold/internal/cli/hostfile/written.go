package hostfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// The places that runs could write are remembered. A link in one of them may have been
// made by an agent, and does not say where the operator wants to go. Later runs refuse
// to follow it out of the place (see hostpath.Path.Planted).
//
// The record is a file of quoted paths, one a line, to which runs append. It is read
// and written by this user alone. Its length is bounded: when the bound is reached,
// places that no longer exist are dropped first, and then the oldest.
const (
	maxWritten      = 1000    // places that are remembered: as many as are read in a tenth of a millisecond
	maxWrittenBytes = 4 << 20 // of the file that are read
)

// writtenFile is where the record lies; "" where this user has no state.
func writtenFile() string {
	runs, err := state.RunsDir()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(runs), "written")
}

// writtenPlaces are the places that runs of this user could write, real absolute
// paths. Without a record there are none.
func writtenPlaces() ([]string, error) {
	name := writtenFile()
	if name == "" {
		return nil, nil
	}
	if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) || hostpath.Unreachable(err) {
		return nil, nil // and none can be kept
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // was only read
	return parseWritten(f)
}

func parseWritten(r io.Reader) (places []string, err error) {
	lines := bufio.NewScanner(io.LimitReader(r, maxWrittenBytes))
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		// A line that was cut off by a crash is left out.
		if place, ok := unquoted(lines.Text()); ok && filepath.IsAbs(place) {
			places = append(places, place)
		}
	}
	return places, lines.Err()
}

// unquoted reads one line. Nearly all hold no escape: to read those as they stand takes
// a third of the time, of which each start of a run has a little.
func unquoted(line string) (place string, ok bool) {
	if n := len(line); n >= 2 && line[0] == '"' && line[n-1] == '"' && strings.IndexByte(line[1:n-1], '"') < 0 && strings.IndexByte(line, '\\') < 0 {
		return line[1 : n-1], true
	}
	place, err := strconv.Unquote(line)
	return place, err == nil
}

// rememberWritten adds what a run may write: the home that it shows, if any, and
// the write paths of its project.
// known is the record as it was read.
func rememberWritten(known []string, home, root string, paths []string) ([]string, error) {
	name := writtenFile()
	if name == "" {
		return known, nil
	}
	var places []string
	if home != "" {
		if real, _, err := hostpath.Place(home); err == nil {
			places = append(places, real)
		}
	}
	for _, at := range paths {
		if !filepath.IsAbs(at) {
			at = filepath.Join(root, filepath.FromSlash(at))
		}
		places = append(places, filepath.Clean(at))
	}
	var text strings.Builder
	for _, place := range places {
		if !slices.Contains(known, place) {
			fmt.Fprintf(&text, "%q\n", place)
			known = append(known, place)
		}
	}
	switch {
	case text.Len() == 0:
		return known, nil
	case len(known) > maxWritten:
		return known, replaceWritten(name, fewerWritten(slices.Clone(known)))
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return known, err
	}
	// One write of a few lines is whole beside those of other runs.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return known, err
	}
	_, err = f.WriteString(text.String())
	return known, errors.Join(err, f.Close())
}

// fewerWritten leaves out places that are gone, and then the oldest, until half of
// the bound is free again.
func fewerWritten(places []string) []string {
	places = slices.DeleteFunc(places, func(place string) bool {
		_, err := os.Lstat(place)
		return errors.Is(err, os.ErrNotExist)
	})
	return places[max(0, len(places)-maxWritten/2):]
}

func replaceWritten(name string, places []string) error {
	f, err := os.CreateTemp(filepath.Dir(name), "written-")
	if err != nil {
		return err
	}
	for _, place := range places {
		if _, err = fmt.Fprintf(f, "%q\n", place); err != nil {
			break
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// Written is the record. One that cannot be read, such as another user's in the
// same home, is told: without it no link is refused.
func Written(o *cli.Output) []string {
	places, err := writtenPlaces()
	if err != nil {
		o.WarnOnce("links that earlier runs may have made are not told from yours: " + err.Error())
	}
	return places
}

// WrittenPlace is the place that earlier runs could write and in which a file lies, or
// what its name leads to; "" if it lies in none. A record that cannot be read is an error.
func WrittenPlace(name string) (string, error) {
	places, err := writtenPlaces()
	if err != nil {
		return "", fmt.Errorf("which places runs could write is not known: %w", err)
	}
	path, err := followGiven(name)
	if err != nil {
		return "", err
	}
	for _, at := range append([]string{path.Real}, path.Links...) {
		for _, place := range places {
			if _, in := hostpath.Beneath(at, place); in {
				return place, nil
			}
		}
	}
	return "", nil
}

// Remember adds to the record before the command can write, and returns the record
// with what was added. A run does not fail if it cannot be kept; on a terminal that is
// reported.
func Remember(o *cli.Output, home string, r *pathresolver.Resolver) []string {
	known, err := rememberWritten(Written(o), home, r.Root(), r.WritePaths())
	if err != nil && o.Stderr.Terminal {
		o.Warning("that this run could write is not remembered, so that links which it makes are followed by later ones: " + err.Error())
	}
	return known
}

// RememberMore is Remember for write paths that a run gets while it goes on, each
// relative to root or absolute; what does not lie in root is none.
func RememberMore(o *cli.Output, root string, paths []string) error {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		_, in := hostpath.Beneath(filepath.Clean(path), root)
		return !in
	})
	_, err := rememberWritten(Written(o), "", root, paths)
	return err
}

// RefusePlanted refuses a directory that -C names over a link in one of the places of
// written. Otherwise real is where the name leads, for a caller that opens it later to
// compare; "" where it leads nowhere.
func RefusePlanted(name string, written []string) (real string, err error) {
	path, err := hostpath.Resolve(name)
	if err != nil {
		return "", nil // whoever opens it says why
	}
	return path.Real, plantedError("-C", name, path, written)
}

// plantedError says that path, where the name that flag was given leads, is the
// choice of somebody who could write one of the places of written.
func plantedError(flag, name string, path hostpath.Path, written []string) error {
	link, planted := path.Planted(written)
	if !planted {
		return nil
	}
	esc := pathresolver.EscapePath
	return &cli.ExitError{Code: cli.ExitFailed,
		Err: fmt.Errorf("%s '%s' leads over '%s', a link in a place that a run could write, to '%s'",
			flag, esc(name), esc(link), esc(path.Real)),
		Hint: fmt.Sprintf("if that is what you mean, name it: %s '%s'", flag, esc(path.Real))}
}
