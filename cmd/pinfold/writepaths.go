package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// maxListBytes bounds what is read as a list of write paths.
const maxListBytes = 1 << 20

var (
	errNullAlone  = errors.New("--null says how --write-paths-from is read: give both")
	errStdinTaken = errors.New("write paths: standard input belongs to the command")
)

// readWritePaths reads a list of write paths: one a line, or ended by NUL as
// find -print0 writes them. Nothing is trimmed or skipped: an empty line is an
// empty path, and is refused as one.
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
		f, err := os.Open(from)
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
	end := "\n"
	if null {
		end = "\x00"
	}
	return strings.Split(strings.TrimSuffix(string(data), end), end), nil
}

// writePathIndex reads the index out of a finding's field "write_paths[7]".
func writePathIndex(field string) (int, bool) {
	text, ok := strings.CutPrefix(field, "write_paths[")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(strings.TrimSuffix(text, "]"))
	return i, err == nil
}

// unknownWord is the error for a word that is none of a closed list.
func unknownWord(what, word string, valid ...string) error {
	return fmt.Errorf("unknown %s %q: want %s", what, word, strings.Join(valid, ", "))
}

func itoa(n int) string { return strconv.Itoa(n) }
