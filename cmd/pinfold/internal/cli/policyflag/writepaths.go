package policyflag

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
)

// maxListBytes bounds what is read as a list of write paths.
const maxListBytes = 1 << 20

var (
	errNullAlone  = errors.New("--null says how --write-paths-from is read: give both")
	errStdinTaken = errors.New("write paths: standard input belongs to the command")
)

// readWritePaths reads a list of write paths: one a line, or ended by NUL as
// find -print0 writes them. A line ends in LF or CR LF; nothing else is trimmed
// or skipped: an empty line is an empty path, and is refused as one.
func readWritePaths(from string, null bool, stdin io.Reader) ([]string, error) {
	in := stdin
	switch {
	case from == "" && null:
		return nil, errNullAlone
	case from == "":
		return nil, nil
	case from == "-" && stdin == nil:
		return nil, errStdinTaken
	case from != "-":
		f, err := hostfile.Open("--write-paths-from", from, os.O_RDONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("write paths: %w", err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxListBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("write paths: %w", err)
	case len(data) > maxListBytes:
		return nil, fmt.Errorf("write paths: %q is longer than %d bytes", from, maxListBytes)
	case len(data) == 0:
		return nil, nil
	}
	if null {
		return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00"), nil
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines, nil
}

// ProtectList keeps the list that a policy came from out of the reach of what
// it lets write: otherwise an agent could widen its next run. The list is
// protected by its place; a list outside root is out of reach anyway.
func ProtectList(root, from string) []string {
	if from == "" || from == "-" {
		return nil
	}
	realRoot, err := hostfile.RealPath(root)
	if err != nil {
		return nil // New says what is wrong with the root
	}
	var globs []string
	for _, resolve := range []func(string) (string, error){filepath.Abs, hostfile.RealPath} {
		file, err := resolve(from)
		if err != nil {
			continue
		}
		// Both spellings of the root: the list may be named by either.
		for _, base := range []string{root, realRoot} {
			abs, err := filepath.Abs(base)
			if err != nil {
				continue
			}
			if rel, err := filepath.Rel(abs, file); err == nil && filepath.IsLocal(rel) && rel != "." {
				globs = append(globs, hostfile.EscapeGlob(filepath.ToSlash(rel)))
			}
		}
	}
	slices.Sort(globs)
	return slices.Compact(globs)
}
